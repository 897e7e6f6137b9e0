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
      if (node) node.replaceWith(fresh);
      node = fresh;
      changed = true;
    }
    if (list.children[index] !== node) list.insertBefore(node, list.children[index] || null);
  });
  for (const gone of before.values()) gone.remove();
  if (changed && atEnd) list.scrollTop = list.scrollHeight;
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
