/* The Slack half of the page. */
import { act, clock, el, initials, tab, update } from "/page/dom.js";
import { renderBlocks } from "/page/blocks.js";
import { showModal } from "/page/modal.js";
import { mrkdwn } from "/page/mrkdwn.js";

const panel = document.querySelector(".slack");
const tabs = panel.querySelector(".tabs");
const list = panel.querySelector(".messages");
const confirmBox = document.querySelector('[data-dialog="confirm"]');
let chosen = null;

/** Draw the workspace as this member sees it. */
export function renderSlack(picture, me, redraw) {
  const slack = picture.slack;
  const names = lookup(picture);
  const channels = slack.channels.filter((channel) => sees(channel, slack, me));
  if (!channels.some((channel) => channel.id === chosen)) chosen = channels[0]?.id;
  const shown = slack.messages.filter((m) => !m.only_for || m.only_for === me.slack);

  update(tabs, channels.map((c) => ({
    id: c.id,
    label: c.dm_with ? slack.bot.name : `# ${c.name}`,
    count: shown.filter((m) => m.channel === c.id).length,
    chosen: c.id === chosen,
  })), (c) => c.id, (c) =>
    tab(
      el("span", {}, c.label, c.count ? el("span", { class: "count" }, String(c.count)) : null),
      c.chosen,
      { tab: `slack:${c.id}` },
      () => {
        chosen = c.id;
        redraw();
      },
    ));

  list.dataset.chat = `slack:${chosen}`;
  const use = (message) => (block, part, choose, node) => press(message, block, part, choose, me, node);
  const here = threaded(shown.filter((m) => m.channel === chosen));
  update(list, here.length ? here : [{ ts: "none" }], (m) => `${chosen}/${m.ts}/${me.name}`, (m) =>
    m.ts === "none" ? quiet(slack, chosen) : draw(m, slack, names, use(m)), `${chosen}/${me.name}`);
  const view = slack.views[me.slack];
  showModal(view, me, names, (block, part, choose, node) =>
    press({ view: view.id }, block, part, choose, me, node));
}

function sees(channel, slack, me) {
  if (channel.dm_with) {
    return channel.dm_with === me.slack && slack.messages.some((m) => m.channel === channel.id);
  }
  return channel.bot_is_member && (!channel.members || channel.members.includes(me.slack));
}

function threaded(messages) {
  const root = (m) => m.thread_ts || m.ts;
  return [...messages].sort((a, b) => root(a).localeCompare(root(b)) || a.ts.localeCompare(b.ts));
}

function quiet(slack, id) {
  const channel = slack.channels.find((c) => c.id === id);
  return el("p", { class: "empty" }, `Nothing in ${channel ? `#${channel.name}` : "this channel"} yet.`);
}

function lookup(picture) {
  const { members, slack } = picture;
  return {
    user: (id) => (id === slack.bot.id ? slack.bot.name : members.find((m) => m.slack === id)?.name || id),
    channel: (id) => slack.channels.find((c) => c.id === id)?.name || id,
    group: (id) => slack.groups[id] || id,
  };
}

function draw(message, slack, names, use) {
  const app = message.user === slack.bot.id;
  const name = names.user(message.user);
  const reply = message.thread_ts && message.thread_ts !== message.ts;
  const body = message.blocks.length
    ? renderBlocks(message.blocks, names, use)
    : [el("div", { class: "b-text" }, ...mrkdwn(message.text, names))];
  return el(
    "article",
    {
      class: `s-message${message.only_for ? " ephemeral" : ""}${reply ? " reply" : ""}`,
      data: {
        message: message.ts,
        chat: `slack:${message.channel}`,
        ephemeral: message.only_for ? "true" : null,
        thread: message.thread_ts,
      },
    },
    el("div", { class: `avatar${app ? " app" : ""}`, "aria-hidden": "true" }, initials(name)),
    el(
      "div",
      { class: "s-body" },
      message.only_for && el("p", { class: "only-you" }, "Only visible to you"),
      el(
        "p",
        { class: "who" },
        el("strong", {}, name),
        app && el("span", { class: "badge" }, "APP"),
        clock(Number(message.ts)),
      ),
      ...body,
      message.edited && el("small", { class: "edited" }, "(edited)"),
      message.error && el("p", { class: "problem", role: "alert", data: { error: message.error } }, `⚠ ${message.error}`),
    ),
  );
}

async function press(shown, block, part, choose, me, node) {
  if (part.confirm && !(await confirmed(part.confirm))) return;
  if (part.url) window.open(part.url, "_blank", "noopener,noreferrer");
  node.setAttribute("aria-busy", "true");
  const place = shown.view ? { view: shown.view } : { channel: shown.channel, ts: shown.ts };
  await act("slack/press", { ...place, block_id: block.block_id, action_id: part.action_id, choose, by: me.name });
  node.removeAttribute("aria-busy");
}

function confirmed(words) {
  const [no, yes] = ["no", "yes"].map((name) => confirmBox.querySelector(`[data-confirm="${name}"]`));
  confirmBox.querySelector("h3").textContent = words.title.text;
  confirmBox.querySelector(".words").textContent = words.text.text;
  no.textContent = words.deny.text;
  yes.textContent = words.confirm.text;
  yes.className = `plain ${words.style || "primary"}`;
  confirmBox.returnValue = "";
  no.onclick = () => confirmBox.close("no");
  yes.onclick = () => confirmBox.close("yes");
  confirmBox.showModal();
  return new Promise((resolve) => {
    confirmBox.addEventListener("close", () => resolve(confirmBox.returnValue === "yes"), { once: true });
  });
}
