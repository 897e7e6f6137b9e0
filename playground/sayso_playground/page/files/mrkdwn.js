/* Slack's mrkdwn as DOM nodes: the same characters are live here as in Slack. */
import { el, link, slackDate } from "/page/dom.js";

const STYLES = { "*": "strong", _: "em", "~": "s" };
const TOKEN = /```([\s\S]+?)```|`([^`\n]+)`|<([^<>\n]+)>|(?<![\p{L}\d])([*_~])(?=\S)([^\n]+?)(?<=\S)\4(?![\p{L}\d])/u;

const EMOJI = {
  white_check_mark: "✅", heavy_check_mark: "✔️", x: "❌", no_entry: "⛔", no_entry_sign: "🚫", warning: "⚠️",
  hourglass: "⌛", hourglass_flowing_sand: "⏳", lock: "🔒", key: "🔑", robot_face: "🤖", bell: "🔔",
  eyes: "👀", hand: "✋", question: "❓", information_source: "ℹ️", alarm_clock: "⏰", repeat: "🔁",
};

const plain = (text) => unescape(text).replace(/:([a-z_]+):/g, (whole, name) => EMOJI[name] || whole);
const unescape = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

/** Nodes for a mrkdwn text. */
export function mrkdwn(text, names) {
  const nodes = [];
  let quote = null;
  for (const part of text.split(/(```[\s\S]+?```)/)) {
    if (part.startsWith("```")) {
      nodes.push(...inline(part, names));
      continue;
    }
    part.split("\n").forEach((line, index) => {
      const quoted = /^&gt;\s?/.exec(line);
      if (quoted) {
        if (!quote) nodes.push((quote = el("blockquote")));
        quote.append(...inline(line.slice(quoted[0].length), names), el("br"));
        return;
      }
      if (index && !quote) nodes.push(el("br"));
      quote = null;
      nodes.push(...inline(line, names));
    });
  }
  return nodes;
}

function inline(text, names) {
  const nodes = [];
  for (let rest = text; rest; ) {
    const match = TOKEN.exec(rest);
    if (!match) return [...nodes, plain(rest)];
    if (match.index) nodes.push(plain(rest.slice(0, match.index)));
    rest = rest.slice(match.index + match[0].length);
    const [, block, code, angle, mark, inner] = match;
    if (block !== undefined) nodes.push(el("pre", {}, unescape(block.replace(/^\n/, ""))));
    else if (code !== undefined) nodes.push(el("code", {}, unescape(code)));
    else if (angle !== undefined) nodes.push(reference(angle, names));
    else nodes.push(el(STYLES[mark], {}, ...inline(inner, names)));
  }
  return nodes;
}

function reference(angle, names) {
  const [target, label] = angle.split("|");
  const mention = (text) => el("span", { class: "mention" }, unescape(text));
  if (target.startsWith("@")) return mention(`@${label || names.user(target.slice(1))}`);
  if (target.startsWith("#")) return mention(`#${label || names.channel(target.slice(1))}`);
  if (target.startsWith("!subteam^")) return mention(`@${label || names.group(target.slice(9))}`);
  if (target.startsWith("!date^")) return slackDate(target, unescape(label || ""));
  if (target.startsWith("!")) return mention(`@${label || target.slice(1)}`);
  return link(unescape(target), label ? unescape(label) : "");
}
