/* The page: a live picture of both chats, drawn as the chosen member sees them. */
import { act, el, tab, update } from "/page/dom.js";
import { renderSlack } from "/page/slack.js";
import { renderTelegram } from "/page/telegram.js";

const people = document.querySelector(".people");
const live = document.querySelector("[data-connection]");
const drawer = document.querySelector('[data-dialog="misbehave"]');
const opener = document.querySelector("[data-open-misbehave]");
let picture = null;
let me = new URLSearchParams(location.search).get("as") || sessionStorage.getItem("as");

function render() {
  const { members } = picture;
  const member = members.find((m) => m.name.toLowerCase() === me?.toLowerCase()) || members[0];
  document.body.dataset.member = member.name;
  update(people, members.map((m) => ({ name: m.name, chosen: m === member })), (m) => m.name, (m) =>
    tab(m.name, m.chosen, { member: m.name }, () => {
      me = m.name;
      sessionStorage.setItem("as", me);
      render();
    }));
  renderSlack(picture, member, render);
  renderTelegram(picture, member, render);
  renderFaults();
}

function renderFaults() {
  const planned = ["slack", "telegram"].flatMap((platform) =>
    picture[platform].faults.map((f) => ({ text: `${platform} · ${f.fault} × ${f.times ?? "∞"}` })));
  const count = opener.querySelector(".count");
  count.hidden = !planned.length;
  count.textContent = String(planned.length);
  drawer.querySelector(".planned").replaceChildren(...planned.map((f) => el("li", {}, f.text)));
}

function connection(state, text) {
  live.dataset.connection = state;
  live.querySelector(".live-text").textContent = text;
}

opener.addEventListener("click", () => drawer.showModal());
drawer.querySelector("[data-close-misbehave]").addEventListener("click", () => drawer.close());
drawer.querySelector("[data-behave]").addEventListener("click", async () => {
  await act("misbehave", { platform: "slack", fault: "none" });
  await act("misbehave", { platform: "telegram", fault: "none" });
});
drawer.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  act("misbehave", Object.fromEntries(new FormData(event.target)));
});

const stream = new EventSource("/api/stream");
stream.onmessage = (event) => {
  picture = JSON.parse(event.data);
  connection("live", "Live");
  render();
};
stream.onerror = () => connection("lost", "Disconnected");
