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
  dialog.querySelector("[data-close]").textContent = view.view.close?.text || "Cancel";
  const submit = dialog.querySelector("[data-submit]");
  submit.hidden = !view.view.submit;
  submit.textContent = view.view.submit?.text || "";
  say(view.errors[""]);
  if (dialog.open) return;
  dialog.showModal();
  fields.scrollTop = 0;
}

function field(block, errors, typed, names, use) {
  if (block.type !== "input") return renderBlocks([block], names, use)[0];
  const control = input(block.element, typed[block.element.action_id]);
  const error = errors[block.block_id];
  if (error) control.setAttribute("aria-invalid", "true");
  return el(
    "label",
    { class: "field", data: { block: block.block_id } },
    el("span", {}, block.label.text, block.optional ? el("small", {}, " (optional)") : null),
    control,
    block.hint && el("small", {}, block.hint.text),
    error && el("small", { class: "problem", role: "alert", data: { error: block.block_id } }, error),
  );
}

function input(element, typed) {
  const data = { input: element.action_id };
  if (element.options) {
    const options = element.options.map((o) => el("option", { value: o.value }, o.text.text));
    const multiple = element.type === "checkboxes";
    if (!multiple) options.unshift(el("option", { value: "" }, element.placeholder?.text || "Choose"));
    return el("select", { data, multiple }, ...options);
  }
  const node = el(element.multiline ? "textarea" : "input", {
    data,
    rows: element.multiline ? 4 : undefined,
    placeholder: element.placeholder?.text || "",
    maxLength: element.max_length || 3000,
  });
  node.value = typed ?? element.initial_value ?? "";
  return node;
}

function valuesOf() {
  const controls = [...fields.querySelectorAll("[data-input]")];
  return Object.fromEntries(
    controls.map((node) => [
      node.dataset.input,
      node.multiple ? [...node.selectedOptions].map((option) => option.value) : node.value,
    ]),
  );
}

function say(text) {
  problem.hidden = !text;
  problem.textContent = text || "";
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const empty = [...fields.querySelectorAll("label.field")].find(
    (label) => !label.querySelector("[data-input]").value && !label.textContent.includes("(optional)"),
  );
  if (empty) {
    say("Please complete all required fields.");
    empty.querySelector("[data-input]").focus();
    return;
  }
  const result = await act("slack/submit", { by: owner.name, values: valuesOf() });
  if (result.error) say(`We had some trouble connecting. Try again? (${result.error})`);
});

const close = () => act("slack/close", { by: owner.name });
dialog.querySelector("[data-close]").addEventListener("click", close);
dialog.addEventListener("cancel", (event) => {
  event.preventDefault();
  close();
});
