/* Block Kit as DOM nodes. */
import { el, link } from "/page/dom.js";
import { mrkdwn } from "/page/mrkdwn.js";

/** One node a block; `use(block, element, choose)` runs when somebody uses an element. */
export function renderBlocks(blocks, names, use) {
  return blocks.map((block) => (BLOCKS[block.type] || unknown)(block, names, use));
}

const BLOCKS = {
  header: (block) => el("h3", { class: "b-header" }, block.text.text),
  divider: () => el("hr", { class: "b-divider" }),
  section: (block, names, use) =>
    el(
      "div",
      { class: "b-section" },
      el(
        "div",
        { class: "b-text" },
        block.text && el("div", {}, ...words(block.text, names)),
        block.fields &&
          el("div", { class: "b-fields" }, ...block.fields.map((f) => el("div", {}, ...words(f, names)))),
      ),
      block.accessory && element(block, block.accessory, use),
    ),
  context: (block, names) =>
    el("div", { class: "b-context" }, ...block.elements.map((part) =>
      part.type === "image" ? image(part) : el("span", {}, ...words(part, names)))),
  actions: (block, names, use) =>
    el("div", { class: "b-actions" }, ...block.elements.map((part) => element(block, part, use))),
  rich_text: (block, names) =>
    el("div", { class: "b-rich" }, ...block.elements.map((part) => richPart(part, names))),
  markdown: (block) => el("div", { class: "b-text pre-line" }, block.text),
  image: (block) => image(block),
};

const unknown = (block) => el("p", { class: "b-context" }, `(${block.type} block)`);
const image = (part) => el("span", { class: "image", role: "img", "aria-label": part.alt_text }, `🖼 ${part.alt_text}`);

/** The nodes of a text object. */
export function words(text, names) {
  return text.type === "mrkdwn" ? mrkdwn(text.text, names) : [el("span", { class: "pre-line" }, text.text)];
}

function element(block, part, use) {
  if (part.type === "button") return button(block, part, use);
  if (part.options) return menu(block, part, use);
  if (part.type === "image") return image(part);
  return el("span", { class: "b-context" }, `(${part.type})`);
}

function button(block, part, use) {
  return el(
    "button",
    {
      type: "button",
      class: `plain ${part.style || ""}`,
      "aria-label": part.accessibility_label,
      data: { button: part.text.text, actionId: part.action_id, style: part.style },
      onclick: (event) => use(block, part, null, event.currentTarget),
    },
    part.text.text,
  );
}

function menu(block, part, use) {
  const label = part.placeholder?.text || (part.type === "overflow" ? "More actions" : "Choose");
  const first = el("option", { value: "" }, part.type === "overflow" ? "…" : label);
  const options = part.options.map((o) => el("option", { value: o.value }, o.text.text));
  const select = el("select", {
    class: "plain",
    "aria-label": label,
    data: { actionId: part.action_id, menu: label },
    onchange: () => {
      const choose = select.value;
      select.value = "";
      if (choose) use(block, part, choose, select);
    },
  }, first, ...options);
  return select;
}

function richPart(part, names) {
  const leaves = () => part.elements.map((leaf) => richLeaf(leaf, names));
  if (part.type === "rich_text_preformatted") return el("pre", {}, ...leaves());
  if (part.type === "rich_text_quote") return el("blockquote", { class: "pre-line" }, ...leaves());
  if (part.type === "rich_text_list") {
    const items = part.elements.map((item) => el("li", {}, richPart(item, names)));
    return el(part.style === "ordered" ? "ol" : "ul", {}, ...items);
  }
  return el("div", { class: "pre-line" }, ...leaves());
}

function richLeaf(leaf, names) {
  const mention = (text) => el("span", { class: "mention" }, text);
  let node;
  if (leaf.type === "link") node = link(leaf.url, leaf.text);
  else if (leaf.type === "user") node = mention(`@${names.user(leaf.user_id)}`);
  else if (leaf.type === "channel") node = mention(`#${names.channel(leaf.channel_id)}`);
  else if (leaf.type === "usergroup") node = mention(`@${names.group(leaf.usergroup_id)}`);
  else if (leaf.type === "broadcast") node = mention(`@${leaf.range}`);
  else if (leaf.type === "emoji") node = emoji(leaf);
  else node = document.createTextNode(leaf.text ?? leaf.fallback ?? leaf.value ?? "");
  const tags = { bold: "strong", italic: "em", strike: "s", underline: "u", code: "code" };
  for (const [style, tag] of Object.entries(tags)) if (leaf.style?.[style]) node = el(tag, {}, node);
  return node;
}

function emoji(leaf) {
  const points = (leaf.unicode || "").split("-").map((hex) => parseInt(hex, 16));
  const known = leaf.unicode && points.every(Number.isFinite);
  return document.createTextNode(known ? String.fromCodePoint(...points) : `:${leaf.name}:`);
}
