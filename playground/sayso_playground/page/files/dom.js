/* Building the page from data: everything from a bot becomes text, never markup. */

/** An element with properties, data attributes and children; strings become text nodes. */
export function el(tag, { data = {}, ...properties } = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("aria-") || name === "role") node.setAttribute(name, value);
    else node[name] = value;
  }
  for (const [name, value] of Object.entries(data)) {
    if (value !== undefined && value !== null && value !== false) node.dataset[name] = value;
  }
  node.append(...children.filter((child) => child || child === 0));
  return node;
}

/** A link that leaves the page; anything but a web or mail address stays plain text. */
export function link(url, label) {
  const safe = /^(https?:|mailto:|tg:)/i.test(url);
  if (!safe) return el("span", {}, label || url);
  return el("a", { href: url, target: "_blank", rel: "noopener noreferrer", title: url }, label || url);
}

/** Hours and minutes of a time in seconds. */
export function clock(seconds) {
  const date = new Date(seconds * 1000);
  const text = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return el("time", { dateTime: date.toISOString() }, text);
}

const DATES = {
  date_num: (date) => [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((n) => String(n).padStart(2, "0")).join("-"),
  date: (date) => date.toLocaleDateString([], { dateStyle: "long" }),
  date_short: (date) => date.toLocaleDateString([], { dateStyle: "medium" }),
  date_long: (date) => date.toLocaleDateString([], { dateStyle: "full" }),
  time: (date) => date.toLocaleTimeString([], { hour: "numeric", minute: "2-digit" }),
  time_secs: (date) => date.toLocaleTimeString([], { hour: "numeric", minute: "2-digit", second: "2-digit" }),
};

/** Slack's `!date^seconds^format`, in the reader's own time zone; what Slack does not know stays as it is. */
export function slackDate(target, fallback) {
  const [, seconds, format = ""] = target.split("^");
  const date = new Date(Number(seconds) * 1000);
  if (Number.isNaN(date.getTime())) return el("span", {}, fallback);
  const text = format.replace(/\{(\w+?)(_pretty)?\}/g, (whole, name, pretty) =>
    (pretty && nearDay(date)) || DATES[name]?.(date) || whole);
  return el("time", { dateTime: date.toISOString(), title: fallback }, text);
}

function nearDay(date) {
  const midnight = (moment) => new Date(moment).setHours(0, 0, 0, 0);
  const days = Math.round((midnight(date) - midnight(Date.now())) / 86_400_000);
  return { "-1": "yesterday", 0: "today", 1: "tomorrow" }[days];
}

/** Up to two letters that stand for a name. */
export function initials(name) {
  return name.split(/\s+/).map((word) => word[0] || "").join("").slice(0, 2).toUpperCase();
}

/** Make the children of a list those of the items, touching only what changed. */
export function update(list, items, keyOf, build, place = "") {
  const near = list.scrollHeight - list.scrollTop - list.clientHeight < 80;
  const atEnd = near || list.place !== place;
  list.place = place;
  const before = new Map([...list.children].map((child) => [child.dataset.key, child]));
  let changed = false;
  items.forEach((item, index) => {
    const key = String(keyOf(item));
    const print = JSON.stringify(item);
    let node = before.get(key);
    before.delete(key);
    if (!node || node.print !== print) {
      const fresh = build(item);
      fresh.dataset.key = key;
      fresh.print = print;
      if (node) replace(node, fresh, list);
      node = fresh;
      changed = true;
    }
    if (list.children[index] !== node) list.insertBefore(node, list.children[index] || null);
  });
  for (const gone of before.values()) gone.remove();
  if (changed && atEnd) list.scrollTop = list.scrollHeight;
}

/** Put a node in the place of another; who was at a button of that one stays there, or nearby. */
function replace(node, fresh, list) {
  const at = node.contains(document.activeElement) ? document.activeElement : null;
  node.replaceWith(fresh);
  if (!at) return;
  const same = at.dataset.button && fresh.querySelector(`[data-button="${CSS.escape(at.dataset.button)}"]`);
  (same || fresh.querySelector("[data-button]") || list).focus({ preventScroll: true });
}

/** Ask the playground to do something as a person. */
export async function act(action, body) {
  const response = await fetch(`/api/${action}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return response.json();
}

/** A segment of buttons of which one is chosen. */
export function tab(label, chosen, data, choose) {
  const node = el("button", { type: "button", class: "tab", data, onclick: choose }, label);
  node.setAttribute("aria-pressed", String(chosen));
  return node;
}
