/* Slack's modals: a form with input blocks, and what the app says is wrong with it. */
import { act, el } from "/page/dom.js";
import { renderBlocks } from "/page/blocks.js";

const dialog = document.querySelector('[data-dialog="modal"]');
const form = dialog.querySelector("form");
const fields = dialog.querySelector(".form");
const problem = dialog.querySelector(".problem");
let shown = "";
let owner = null;

/** Show the modal this member has open, or none. */
export function showModal(view, member, names, use) {
  const print = view ? JSON.stringify([view, member.name]) : "";
  if (print === shown) return;
  shown = print;
  owner = member;
  problem.hidden = true;
  if (!view) {
    dialog.close();
    return;
  }
  const typed = dialog.dataset.view === view.id ? valuesOf() : {};
  dialog.dataset.view = view.id;
  dialog.querySelector("h3").textContent = view.view.title.text;
  fields.replaceChildren(...view.view.blocks.map((block) => field(block, view.errors, typed, names, use)));
  // A text without anything to fill in is scrolled with the keyboard, too.
  fields.tabIndex = fields.querySelector("input, textarea, select, button") ? -1 : 0;
  dialog.querySelector("[data-close]").textContent = view.view.close?.text || "Cancel";
  const submit = dialog.querySelector("[data-submit]");
  submit.hidden = !view.view.submit;
  submit.textContent = view.view.submit?.text || "";
  say(view.errors[""]);
  if (dialog.open) {
    fields.querySelector('[aria-invalid="true"]')?.closest("[data-block]").scrollIntoView({ block: "nearest" });
    return;
  }
  dialog.showModal();
  fields.querySelector("input, textarea, select")?.focus({ preventScroll: true });
  fields.scrollTop = 0;
}

function field(block, errors, typed, names, use) {
  if (block.type !== "input") return renderBlocks([block], names, use)[0];
  const control = input(block, typed[block.block_id]);
  const error = errors[block.block_id];
  if (error) control.setAttribute("aria-invalid", "true");
  const group = control.matches(".picks");
  return el(
    group ? "fieldset" : "label",
    { class: "field", data: { block: block.block_id } },
    el(group ? "legend" : "span", {}, block.label.text, block.optional ? el("small", {}, " (optional)") : null),
    control,
    block.hint && el("small", {}, block.hint.text),
    error && el("small", { class: "problem", role: "alert", data: { error: block.block_id } }, error),
  );
}

const LINES = {
  plain_text_input: (element) => ({ maxLength: element.max_length || 3000 }),
  number_input: (element) => ({ inputMode: element.is_decimal_allowed ? "decimal" : "numeric" }),
  datepicker: () => ({ type: "date" }),
  datetimepicker: () => ({ type: "datetime-local" }),
  email_text_input: () => ({ type: "email" }),
  url_text_input: () => ({ type: "url" }),
};

/** A moment as the control writes it, in the reader's own time, and back to seconds since 1970. */
function localTime(seconds) {
  const at = new Date(seconds * 1000);
  return new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const toSeconds = (local) => (local ? String(Math.floor(new Date(local) / 1000)) : "");

/** The control of an input block; what was typed before counts more than what it begins with. */
function input(block, typed) {
  const { element } = block;
  if (element.type === "radio_buttons" || element.type === "checkboxes") return picks(block, typed);
  if (element.options) return menu(element, typed);
  const node = el(element.multiline ? "textarea" : "input", {
    data: { input: element.action_id },
    rows: element.multiline ? 4 : undefined,
    placeholder: element.placeholder?.text || "",
    ...LINES[element.type](element),
  });
  if (element.type === "datetimepicker") {
    const seconds = typed ?? element.initial_date_time;
    node.value = seconds ? localTime(Number(seconds)) : "";
  } else {
    node.value = typed ?? element.initial_value ?? element.initial_date ?? "";
  }
  return node;
}

function begun(element, typed) {
  if (typed !== undefined) return [typed].flat();
  return [element.initial_option || [], element.initial_options || []].flat().map((option) => option.value);
}

function menu(element, typed) {
  const multiple = element.type === "multi_static_select";
  const picked = begun(element, typed);
  const options = element.options.map((o) => el("option", { value: o.value, selected: picked.includes(o.value) }, o.text.text));
  if (!multiple) options.unshift(el("option", { value: "" }, element.placeholder?.text || "Choose"));
  return el("select", { data: { input: element.action_id }, multiple }, ...options);
}

function picks(block, typed) {
  const { element } = block;
  const type = element.type === "checkboxes" ? "checkbox" : "radio";
  const picked = begun(element, typed);
  const choices = element.options.map((o) =>
    el("label", { class: "pick" },
      el("input", { type, name: block.block_id, value: o.value, checked: picked.includes(o.value) }), o.text.text));
  const node = el("div", { class: "picks", data: { input: element.action_id, several: type === "checkbox" } }, ...choices);
  if (type === "radio" && block.optional) {
    const clear = () => node.querySelectorAll("input").forEach((one) => (one.checked = false));
    node.append(el("button", { type: "button", class: "quiet small", onclick: clear }, "Clear selection"));
  }
  return node;
}

function valueOf(node) {
  if (node.multiple) return [...node.selectedOptions].map((option) => option.value);
  if (node.type === "datetime-local") return toSeconds(node.value);
  if (!node.matches(".picks")) return node.value;
  const picked = [...node.querySelectorAll("input:checked")].map((one) => one.value);
  return node.dataset.several ? picked : picked[0] || "";
}

/** What is filled in, by block: only there is an action_id sure to stand once. */
function valuesOf() {
  const blocks = [...fields.querySelectorAll("[data-block]")];
  return Object.fromEntries(blocks.map((block) => [block.dataset.block, valueOf(block.querySelector("[data-input]"))]));
}

function say(text) {
  problem.hidden = !text;
  problem.textContent = text || "";
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const result = await act("slack/submit", { by: owner.name, values: valuesOf() });
  if (result.error) say(`We had some trouble connecting. Try again? (${result.error})`);
});

const close = () => act("slack/close", { by: owner.name });
dialog.querySelector("[data-close]").addEventListener("click", close);
dialog.addEventListener("cancel", (event) => {
  event.preventDefault();
  close();
});
