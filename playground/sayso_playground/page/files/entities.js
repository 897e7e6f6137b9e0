/* Telegram's text with entities as DOM nodes; offsets are UTF-16 units, as JavaScript's are. */
import { el, link } from "/page/dom.js";

const TAGS = {
  bold: "strong", italic: "em", underline: "u", strikethrough: "s", code: "code", pre: "pre",
  blockquote: "blockquote", expandable_blockquote: "blockquote",
};

const BLOCKS = ["pre", "blockquote", "expandable_blockquote"];

/** Nodes for a text; entities nest, none overlap. */
export function withEntities(text, entities) {
  return range(text, 0, text.length, [...entities].sort((a, b) => a.offset - b.offset || b.length - a.length));
}

function range(text, from, to, entities) {
  const nodes = [];
  let at = from;
  for (let index = 0; index < entities.length; index += 1) {
    const entity = entities[index];
    const end = Math.min(entity.offset + entity.length, to);
    if (entity.offset < at) continue;
    if (entity.offset > at) nodes.push(text.slice(at, entity.offset));
    const inside = entities.slice(index + 1).filter((e) => e.offset < end && e.offset + e.length <= end);
    nodes.push(wrap(entity, text.slice(entity.offset, end), range(text, entity.offset, end, inside)));
    at = end;
    // A line break after a block is what ends the block, not an empty line.
    if (BLOCKS.includes(entity.type) && text[at] === "\n" && at < to) at += 1;
  }
  if (at < to) nodes.push(text.slice(at, to));
  return nodes;
}

function wrap(entity, raw, children) {
  const kind = entity.type;
  if (kind === "text_link") return link(entity.url, raw);
  if (kind === "url") return link(/^\w+:/.test(raw) ? raw : `https://${raw}`, raw);
  if (kind === "spoiler") return spoiler(children);
  if (kind === "expandable_blockquote") return expandable(raw, children);
  if (kind === "pre") {
    const code = el("pre", { class: entity.language ? "named" : "" }, ...children);
    if (entity.language) code.dataset.language = entity.language;
    return code;
  }
  if (kind === "date_time") return el("time", { title: raw }, moment(entity, raw));
  if (TAGS[kind]) return el(TAGS[kind], {}, ...children);
  return el("span", { class: "mention" }, ...children);
}

/** A moment in the reader's own words: "r" is how far it is away, all else the time of day. */
function moment(entity, raw) {
  const at = new Date(entity.unix_time * 1000);
  if (Number.isNaN(at.getTime())) return raw;
  const minutes = Math.round((at - Date.now()) / 60_000);
  if (entity.date_time_format !== "r" || Math.abs(minutes) > 1_440) return at.toLocaleString();
  return new Intl.RelativeTimeFormat("en", { numeric: "always" }).format(minutes, "minute");
}

function spoiler(children) {
  const node = el("button", { type: "button", class: "spoiler", "aria-label": "Show hidden text" }, ...children);
  node.onclick = () => {
    node.classList.add("open");
    node.removeAttribute("aria-label");
  };
  return node;
}

function expandable(raw, children) {
  const long = raw.length > 180 || raw.split("\n").length > 3;
  const quote = el("blockquote", { class: long ? "folded" : "" }, ...children);
  if (!long) return quote;
  const toggle = el("button", { type: "button", class: "unfold", data: { expand: "true" } }, "Show more");
  toggle.setAttribute("aria-expanded", "false");
  toggle.onclick = () => {
    const folded = quote.classList.toggle("folded");
    toggle.textContent = folded ? "Show more" : "Show less";
    toggle.setAttribute("aria-expanded", String(!folded));
  };
  return el("div", { class: "foldable" }, quote, toggle);
}
