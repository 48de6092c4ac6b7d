/* Puts the server's fragments into the page, by id, never around something that a person is typing in. */
import { announce } from "./announce.js";

const FIELDS = "input:not([type=hidden], [data-pick]), textarea, select";

function changed(field) {
  if (field.matches("select")) return [...field.options].some((option) => option.selected !== option.defaultSelected);
  return field.type === "checkbox" || field.type === "radio" ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
}

function inUse(target) {
  const active = document.activeElement;
  if (active?.matches(FIELDS) && target.contains(active)) return true;
  // A form that somebody has just opened: closing it under their hands would lose the press that follows.
  if (target.matches("details[open]") && target.querySelector("form")) return true;
  return [...target.querySelectorAll(FIELDS)].some(changed);
}

/* What the page has already is dropped: a row may come twice where a connection was lost in between. */
function dropKnown(fragment) {
  if (!fragment.getAttribute("hx-swap-oob")?.startsWith("beforeend")) return;
  for (const child of [...fragment.children]) if (child.id && document.getElementById(child.id)) child.remove();
}

const isWhole = (fragment) => ["true", "outerHTML"].includes(fragment.getAttribute("hx-swap-oob") ?? "true");

function replaced(fragment) {
  const how = fragment.getAttribute("hx-swap-oob") ?? "true";
  if (how === "true" || how === "outerHTML") return document.getElementById(fragment.id);
  const [style, selector] = how.split(/:(.+)/);
  return ["innerHTML", "outerHTML", "delete"].includes(style) && selector ? document.querySelector(selector) : null;
}

/* Whether the page shows this already: a swap would only take the focus away. */
function isSame(target, fragment) {
  const copy = fragment.cloneNode(true);
  copy.removeAttribute("hx-swap-oob");
  return target.outerHTML === copy.outerHTML;
}

/* A row that is selected stays selected when it changes in place, and what was unfolded stays unfolded. */
function keepState(target, fragment) {
  for (const open of target.querySelectorAll("details[id][open]")) fragment.querySelector(`#${CSS.escape(open.id)}`)?.setAttribute("open", "");
  for (const box of target.querySelectorAll("[data-pick]:checked")) fragment.querySelector(`#${CSS.escape(box.id)}`)?.setAttribute("checked", "");
}

const likeness = (element) => [element.tagName, element.id, element.name, element.value, element.getAttribute("href"), element.textContent.trim()].join("|");

/* What had the focus is gone with its old place: its like in the new one takes it, else the place itself; no jump. */
function keepFocus({ id, like }) {
  const place = id && document.getElementById(id);
  if (!place || (document.activeElement && document.activeElement !== document.body)) return;
  const same = [...place.querySelectorAll("a, button, summary, input, [tabindex]")].find((element) => likeness(element) === like);
  if (!same && place.tabIndex < 0) place.tabIndex = -1;
  (same ?? place).focus({ preventScroll: true });
}

/* Swap all fragments of one message; what is in use stays as it is and the reader is told. */
export function swapIn(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  let focused = {};
  for (const fragment of [...holder.content.children]) {
    dropKnown(fragment);
    const target = replaced(fragment);
    if (fragment.id && !target && isWhole(fragment)) fragment.remove();  // not on this page, or not any more
    if (target && isWhole(fragment) && isSame(target, fragment)) fragment.remove();
    if (!target || !fragment.parentNode) continue;
    keepState(target, fragment);
    if (target.contains(document.activeElement)) focused = { id: fragment.id, like: likeness(document.activeElement) };
    if (!inUse(target)) continue;
    fragment.remove();
    if (!("stale" in target.dataset)) announce("Something changed where you are writing. Your text is kept; sending it shows what is new.");
    target.dataset.stale = "";
  }
  if (holder.content.children.length) {
    htmx.swap(document.body, holder.innerHTML, { swapStyle: "none", swapDelay: 0, settleDelay: 0 });
    keepFocus(focused);
  }
}
