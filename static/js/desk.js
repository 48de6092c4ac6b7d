/*
 * List and preview: the row that has the focus is shown beside the list, where there is room for it.
 * A click on a row shows it, a second one (or Enter) opens it. Typed reasons are kept while one looks around.
 */
const PAUSE = 120;
const typed = new Map();
let timer = 0;
let asked = "";
let coming = null;

const pane = () => document.getElementById("preview");
const hasRoom = () => pane()?.offsetParent !== null && pane() !== null;
const shown = () => pane()?.querySelector("[data-card]")?.dataset.card ?? "";

function keepTyped() {
  for (const field of pane().querySelectorAll("textarea")) typed.set(field.id, field.value);
}

function giveBack() {
  for (const field of pane().querySelectorAll("textarea")) if (typed.get(field.id)) field.value = typed.get(field.id);
}

function mark(link) {
  for (const row of document.querySelectorAll(".desk-open")) row.classList.remove("desk-open");
  link.closest("li").classList.add("desk-open");
}

function remember(id) {
  const url = new URL(location.href);
  url.searchParams.set("open", id);
  history.replaceState(null, "", url);
}

/* The others are told who looks at the card beside the list; on a narrow screen there is none. */
function sayLooking() {
  const live = document.getElementById("live");
  const now = hasRoom() ? shown() : "";
  if (!live || live.dataset.looking === now) return;
  live.dataset.looking = now;
  live.dispatchEvent(new Event("looking"));
}

async function show(link) {
  const id = link.dataset.open;
  if (!id || !hasRoom() || id === asked) return;
  asked = id;
  coming?.abort();
  coming = new AbortController();
  mark(link);
  if (id === shown()) return;
  pane().setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(link.dataset.preview, { signal: coming.signal, cache: "no-store", redirect: "manual" });
    if (!answer.ok) throw new Error(answer.status);
    const html = await answer.text();
    if (asked !== id) return;
    keepTyped();
    pane().innerHTML = html;
    giveBack();
    pane().scrollTop = 0;
    remember(id);
    sayLooking();
  } catch (error) {
    if (error.name === "AbortError") return;
    asked = "";
    pane().textContent = "The preview could not be read. The card itself opens with Enter.";
  }
  pane().removeAttribute("aria-busy");
}

document.addEventListener("focusin", (event) => {
  const link = event.target.closest?.("[data-preview]");
  clearTimeout(timer);
  if (link) timer = setTimeout(show, PAUSE, link);
});

document.addEventListener("click", (event) => {
  const row = event.target.closest(".desk-row");
  const link = row?.querySelector("[data-preview]");
  if (!link || event.target.closest("label, input, button") || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  // The keyboard's Enter has no detail: it opens. So does a click on the row that is shown already.
  if (event.detail === 0 || !hasRoom() || asked === link.dataset.open) {
    if (!event.target.closest("a")) link.click();
    return;
  }
  event.preventDefault();
  link.focus({ preventScroll: true });
  show(link);
});

/* The bar that answers them together covers rows of a long list: it is there only while some are selected. */
function count() {
  const bar = document.querySelector("[data-picked]");
  if (!bar) return;
  const picked = document.querySelectorAll(".desk-pick input:checked").length;
  bar.hidden = picked === 0;
  bar.querySelector("button").textContent = `Answer ${picked} together`;
}

document.addEventListener("change", count);
addEventListener("pageshow", count);
addEventListener("resize", sayLooking);
asked = shown();
sayLooking();
count();
