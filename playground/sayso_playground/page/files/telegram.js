/* The Telegram half of the page. */
import { act, clock, el, initials, tab, update } from "/page/dom.js";
import { withEntities } from "/page/entities.js";

const panel = document.querySelector(".telegram");
const tabs = panel.querySelector(".tabs");
const topics = panel.querySelector(".topics");
const list = panel.querySelector(".messages");
const composer = panel.querySelector("[data-composer]");
const replying = panel.querySelector(".replying");
const toast = panel.querySelector("[data-toast]");
const alertBox = document.querySelector('[data-dialog="alert"]');
let chosen = null;
let topic = null;
let replyTo = null;
let editing = null;
let member = null;
let fadeToast = 0;
const answeredForceReplies = new Set();

/** Draw the chats as this member sees them. */
export function renderTelegram(picture, me, redraw) {
  const telegram = picture.telegram;
  if (member?.name !== me.name) {
    toast.hidden = true;
    if (editing) composer.reset();
    endReply();
  }
  member = me;
  const chats = telegram.chats.filter((chat) => sees(chat, telegram, me));
  if (!chats.some((chat) => chat.id === chosen)) chosen = chats[0]?.id;
  const chat = chats.find((c) => c.id === chosen);
  const choose = (id) => () => {
    chosen = id;
    topic = null;
    replyTo = null;
    redraw();
  };
  update(tabs, chats.map((c) => ({
    id: c.id,
    label: c.kind === "private" ? telegram.bot.name : c.title,
    count: telegram.messages.filter((m) => m.chat === c.id).length,
    chosen: c.id === chosen,
  })), (c) => c.id, (c) =>
    tab(
      el("span", {}, c.label, c.count ? el("span", { class: "count" }, String(c.count)) : null),
      c.chosen, { tab: `telegram:${c.id}` }, choose(c.id),
    ));
  renderTopics(chat, redraw);
  const forum = Object.keys(chat.topics).length > 0;
  const here = telegram.messages.filter(
    (m) => m.chat === chosen && (!forum || (m.thread_id || null) === topic));
  const name = (id) =>
    id === telegram.bot.id ? telegram.bot.name : picture.members.find((m) => m.telegram === id)?.name || String(id);
  const all = new Map(telegram.messages.filter((m) => m.chat === chosen).map((m) => [m.id, m]));
  offerForcedReply(here, me);
  renderReply(all, name);
  list.dataset.chat = `telegram:${chosen}`;
  list.dataset.topic = topic || "";
  update(list, here.length ? here : [{ id: "none" }], (m) => `${chosen}/${topic}/${m.id}/${me.name}`, (m) =>
    m.id === "none" ? el("p", { class: "empty" }, "No messages here yet.") : draw(m, telegram, me, name, all),
  `${chosen}/${topic}/${me.name}`);
}

function sees(chat, telegram, me) {
  if (chat.kind === "private") return chat.id === me.telegram;
  return chat.bot_is_member || telegram.messages.some((m) => m.chat === chat.id);
}

function renderTopics(chat, redraw) {
  const entries = Object.entries(chat.topics);
  topics.hidden = entries.length === 0;
  const items = [["", "General"], ...entries].map(([id, label]) => ({
    id, label, chosen: (topic || "") === (id && Number(id)),
  }));
  update(topics, items, (t) => t.id, (t) =>
    tab(t.label, t.chosen, { topicTab: t.id || "general" }, () => {
      topic = t.id ? Number(t.id) : null;
      redraw();
    }));
}

function draw(message, telegram, me, name, all) {
  const data = { message: message.id, chat: `telegram:${message.chat}`, topic: message.thread_id };
  if (Object.keys(message.service).length) {
    const moved = message.service.migrate_to_chat_id
      ? "This group was upgraded to a supergroup"
      : "This supergroup was upgraded from a group";
    return el("p", { class: "service", data }, moved);
  }
  const mine = message.sender === me.telegram;
  const replied = all.get(message.reply_to);
  return el(
    "article",
    { class: `t-message${mine ? " mine" : ""}`, data },
    !mine && el("div", { class: "avatar round", "aria-hidden": "true" }, initials(name(message.sender))),
    el(
      "div",
      { class: "t-column" },
      el(
        "div",
        { class: "bubble" },
        !mine && el("p", { class: "t-who" }, name(message.sender)),
        replied && el("p", { class: "t-reply" }, el("strong", {}, name(replied.sender)), excerpt(replied)),
        message.document && file(message.document),
        el("div", { class: "t-text" }, ...withEntities(message.text, message.entities)),
        el(
          "p",
          { class: "t-meta" },
          el("button", { type: "button", class: "t-answer", data: { reply: message.id }, onclick: () => beginReply(message) }, "Reply"),
          mine && el("button", { type: "button", class: "t-answer", data: { edit: message.id }, onclick: () => beginEdit(message) }, "Edit"),
          message.edited && el("span", {}, "edited"),
          clock(message.date),
        ),
      ),
      ...message.rows.map((row) => el("div", { class: "keys" }, ...row.map((key) => keyButton(message, key)))),
    ),
  );
}

const excerpt = (message) => (message.text || message.document?.name || "").split("\n")[0].slice(0, 80);

function file(document_) {
  const size = document_.size < 1024 ? `${document_.size} B` : `${(document_.size / 1024).toFixed(1)} KB`;
  return el(
    "a",
    { class: "file", href: `/api/documents/${encodeURIComponent(document_.id)}`, download: document_.name, data: { document: document_.name } },
    el("span", { class: "file-icon", "aria-hidden": "true" }, "↓"),
    el("span", { class: "file-name" }, document_.name, el("small", {}, size)),
  );
}

function keyButton(message, key) {
  const data = { button: key.text, callbackData: key.callback_data, style: key.style };
  return el(
    "button",
    { type: "button", class: `key ${key.style || ""}`, data, onclick: (event) => press(message, key, event.currentTarget) },
    key.text,
  );
}

async function press(message, key, node) {
  if (key.url) window.open(key.url, "_blank", "noopener,noreferrer");
  if (key.copy_text) await navigator.clipboard?.writeText(key.copy_text.text);
  if (!key.callback_data) return;
  node.setAttribute("aria-busy", "true");
  const answer = await act("telegram/press", {
    chat: message.chat, message_id: message.id, data: key.callback_data, by: member.name,
  });
  node.removeAttribute("aria-busy");
  if (answer.alert && answer.toast) showAlert(answer.toast);
  else if (answer.toast || answer.error) showToast(answer.toast || answer.error);
}

function showAlert(text) {
  alertBox.querySelector(".words").textContent = text;
  alertBox.querySelector("[data-alert-ok]").onclick = () => alertBox.close();
  alertBox.showModal();
}

function showToast(text) {
  clearTimeout(fadeToast);
  toast.textContent = text;
  toast.hidden = false;
  fadeToast = setTimeout(() => { toast.hidden = true; }, 4000);
}

function beginReply(message) {
  editing = null;
  replyTo = message.id;
  renderReply(new Map([[message.id, message]]), () => "");
  composer.elements.text.focus();
}

function beginEdit(message) {
  editing = { chat: message.chat, id: message.id };
  replyTo = null;
  replying.hidden = false;
  replying.querySelector(".replying-to").textContent = `Edit: ${excerpt(message)}`;
  composer.elements.text.value = message.text;
  composer.elements.text.focus();
}

/* Telegram opens the reply only for those that a selective question asks. */
function offerForcedReply(messages, me) {
  if (editing) return;
  const asked = messages.findLast((m) => m.asks?.includes(me.telegram));
  if (!asked || answeredForceReplies.has(`${asked.id}/${me.name}`)) return;
  answeredForceReplies.add(`${asked.id}/${me.name}`);
  replyTo = asked.id;
}

function renderReply(all, name) {
  if (editing) return;
  const message = all.get(replyTo);
  replying.hidden = !message;
  composer.elements.text.placeholder = message?.force_reply?.input_field_placeholder || "Message";
  if (!message) return;
  const who = name(message.sender);
  replying.querySelector(".replying-to").textContent = `Reply to ${who ? `${who}: ` : ""}${excerpt(message)}`;
}

function endReply() {
  replyTo = null;
  editing = null;
  replying.hidden = true;
  composer.elements.text.placeholder = "Message";
}

composer.querySelector("[data-cancel-reply]").addEventListener("click", () => {
  if (editing) composer.reset();
  endReply();
});
composer.addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = composer.elements.text.value.trim();
  if (!text) return;
  const said = { chat: chosen, text, by: member.name, reply_to: replyTo, thread_id: topic };
  const edited = editing && { chat: editing.chat, message_id: editing.id, text, by: member.name };
  composer.reset();
  endReply();
  const answer = await (edited ? act("telegram/correct", edited) : act("telegram/say", said));
  if (answer.error) showToast(answer.error);
});
