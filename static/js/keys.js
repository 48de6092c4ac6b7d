/* The keyboard: one table. Single keys act only outside inputs, never decide anything, and can be switched off. */
import { togglePause } from "./live.js";
import { closeMenus } from "./menus.js";
import { toggleAbsolute } from "./time.js";

const HABIT = "handrail.keys.off";
const PATIENCE = 2500;
const ANSWER = ".card-answer :is(textarea, input[type=radio], .actions a, .actions button)";
let goingUntil = 0;

const first = (selector) => document.querySelector(selector);
const follow = (selector) => first(selector)?.click();
const rows = () => [...document.querySelectorAll("[data-row-link]")].filter((link) => link.offsetParent);

function step(by) {
  const links = rows();
  if (!links.length) return;
  const row = document.activeElement?.closest("tr, li");
  const here = links.findIndex((link) => link === document.activeElement || (row && row.contains(link)));
  // Who comes back from the card beside the list begins with the row that it shows.
  const open = links.findIndex((link) => link.closest(".desk-open"));
  const next = here < 0 ? (open >= 0 ? open : by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, here + by));
  links[next].focus();
  links[next].scrollIntoView({ block: "nearest" });
}

function chooseRow() {
  const box = document.activeElement?.closest("tr, li")?.querySelector("input[type=checkbox]");
  box?.click();
}

function back() {
  if (closeMenus()) return;
  if (document.activeElement && document.activeElement !== document.body) document.activeElement.blur();
  else follow("[data-up]");
}

function filter() {
  const box = first("[data-filter]");
  box?.focus();
  box?.select?.();
}

/* The field in the bar; where there is no room for it, the page that has one. */
function search() {
  const box = first("[data-search]");
  if (!box?.offsetParent) return follow(".search-link");
  box.focus();
  box.select();
}

/* Where one answers: on a card, on the card beside the list, on a call in doubt. */
function answer() {
  const field = [...document.querySelectorAll(ANSWER)].find((one) => one.offsetParent);
  field?.focus();
  field?.scrollIntoView({ block: "nearest" });
}

function submit() {
  const form = document.activeElement?.closest("form[data-submit-key]");
  form?.requestSubmit();
}

const KEYS = {
  "?": ["show these keys", () => showSheet()],
  "/": ["go to the filter", filter],
  g: ["then a letter: go to a page", () => { goingUntil = Date.now() + PATIENCE; }],
  j: ["next row", () => step(1)],
  k: ["previous row", () => step(-1)],
  x: ["select the row", chooseRow],
  r: ["go to the answer", answer],
  "[": ["previous of the list", () => follow("a[rel=prev]")],
  "]": ["next of the list", () => follow("a[rel=next]")],
  u: ["times: relative or absolute", toggleAbsolute],
  p: ["pause or continue live updates", togglePause],
};
const WITHOUT_ACTION = [["Ctrl/Cmd K", "search everything"], ["Enter", "open the focused row"], ["Esc", "close, leave the field, or go back"], ["Ctrl/Cmd Enter", "send the form that one is in, where it starts, edits or tries something; never an answer"]];

const off = () => localStorage.getItem(HABIT) === "1";
const typing = (target) => target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");

function element(name, text, attributes = {}) {
  const node = document.createElement(name);
  if (text) node.textContent = text;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

function switchBox() {
  const label = element("label", "", { class: "option" });
  const box = element("input", "", { type: "checkbox" });
  box.checked = !off();
  box.addEventListener("change", () => localStorage.setItem(HABIT, box.checked ? "" : "1"));
  label.append(box, element("span", "Single keys act (outside fields)"));
  return label;
}

function keyList() {
  const list = element("dl", "", { class: "keys" });
  const pages = [...document.querySelectorAll("[data-go]")].map((link) => [`g ${link.dataset.go}`, link.querySelector("span").textContent]);
  const actions = Object.entries(KEYS).map(([key, [what]]) => [key, what]);
  for (const [key, what] of [...actions, ...WITHOUT_ACTION, ...pages]) {
    const term = element("dt");
    term.append(element("kbd", key));
    list.append(term, element("dd", what));
  }
  return list;
}

function showSheet() {
  if (first("#keys-sheet")) return;
  closeMenus();
  const sheet = element("dialog", "", { id: "keys-sheet", "aria-labelledby": "keys-title" });
  const form = element("form", "", { method: "dialog" });
  form.append(element("h2", "Keys", { id: "keys-title" }), keyList(), switchBox(), element("button", "Close", { class: "primary" }));
  sheet.append(form);
  sheet.addEventListener("close", () => sheet.remove());
  document.body.append(sheet);
  sheet.showModal();
}

function act(event) {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") return submit();
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k" && !first("dialog[open]")) {
    event.preventDefault();
    return search();
  }
  if (event.key === "Escape") return first("dialog[open]") ? undefined : back();
  if (event.ctrlKey || event.metaKey || event.altKey || off() || typing(event.target) || first("dialog[open]")) return undefined;
  const going = goingUntil > Date.now();
  goingUntil = 0;
  const link = going && first(`[data-go="${CSS.escape(event.key)}"]`);
  const found = link ? () => link.click() : !going && Object.hasOwn(KEYS, event.key) && KEYS[event.key][1];
  if (!found) return undefined;
  event.preventDefault();
  return found();
}

export function startKeys() {
  document.addEventListener("keydown", act);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-keys-open]")) showSheet();
  });
}
