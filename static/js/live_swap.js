/* Puts the server's fragments into the page, by id, never around something that a person is typing in. */
import { announce } from "./announce.js";

const FIELDS = "input:not([type=hidden]), textarea, select";

function changed(field) {
  if (field.matches("select")) return [...field.options].some((option) => option.selected !== option.defaultSelected);
  return field.type === "checkbox" || field.type === "radio" ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
}

function inUse(target) {
  const active = document.activeElement;
  if (active?.matches(FIELDS) && target.contains(active)) return true;
  return [...target.querySelectorAll(FIELDS)].some(changed);
}

function replaced(fragment) {
  const how = fragment.getAttribute("hx-swap-oob") ?? "true";
  if (how === "true" || how === "outerHTML") return document.getElementById(fragment.id);
  const [style, selector] = how.split(/:(.+)/);
  return ["innerHTML", "outerHTML", "delete"].includes(style) && selector ? document.querySelector(selector) : null;
}

/* Swap all fragments of one message; what is in use stays as it is and the reader is told. */
export function swapIn(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  for (const fragment of [...holder.content.children]) {
    const target = replaced(fragment);
    if (!target || !inUse(target)) continue;
    fragment.remove();
    if (!("stale" in target.dataset)) announce("Something changed where you are writing. Your text is kept; sending it shows what is new.");
    target.dataset.stale = "";
  }
  if (holder.content.children.length) {
    htmx.swap(document.body, holder.innerHTML, { swapStyle: "none", swapDelay: 0, settleDelay: 0 });
  }
}
