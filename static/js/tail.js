/*
 * The tail of a timeline: <ol data-tail>. It follows only a reader who is at its end; anybody else is told how many
 * came, and nothing moves under the cursor. `data-tail-max` bounds what is kept on the page (trimmed at the top).
 */
const NEAR = 80;
let followed = true;
let missed = 0;

// The end of the list, not of the page: on a phone the facts of a task stand below it.
const lastLine = (list) => Math.min(document.documentElement.scrollHeight, scrollY + list.getBoundingClientRect().bottom + NEAR);
const atEnd = (list) => Math.abs(scrollY + innerHeight - lastLine(list)) <= NEAR;
const button = () => document.querySelector("[data-tail-more]");

function tell(list) {
  const more = button();
  if (!more) return;
  more.hidden = missed === 0;
  more.querySelector("button").textContent = `Show ${missed} new`;
  more.dataset.list = list.id;
}

function trim(list) {
  const limit = Number(list.dataset.tailMax) || Infinity;
  // Only out of sight of a reader who follows the end: their place is at the bottom, which stays where it is.
  while (list.children.length > limit) list.firstElementChild.remove();
}

function toEnd(list) {
  scrollTo({ top: lastLine(list) - innerHeight });
}

const inView = (list) => list.lastElementChild.getBoundingClientRect().bottom <= innerHeight;

function grew(list, count) {
  if (followed) {
    trim(list);
    toEnd(list);
  } else if (!inView(list)) {
    missed += count;
    tell(list);
  }
}

function caughtUp() {
  missed = 0;
  const more = button();
  if (more) more.hidden = true;
}

export function startTail() {
  const list = document.querySelector("[data-tail]");
  if (!list) return;
  followed = atEnd(list) && scrollY > 0;
  addEventListener("scroll", () => {
    followed = atEnd(list);
    if (followed) caughtUp();
  }, { passive: true });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-tail-more] button")) toEnd(list);
  });
  const watch = new MutationObserver((changes) => {
    const added = changes.flatMap((change) => [...change.addedNodes]).filter((node) => node.nodeType === 1 && node.isConnected);
    if (added.length) grew(list, added.length);
  });
  watch.observe(list, { childList: true });
}
