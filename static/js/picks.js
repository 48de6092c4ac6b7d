/* How many rows are selected, on the button that leads on with them. */
function count() {
  for (const form of document.querySelectorAll("form[data-picks]")) {
    const button = form.querySelector("button");
    const picked = document.querySelectorAll(`[data-pick][form="${CSS.escape(form.id)}"]:checked`).length;
    button.dataset.none ??= button.textContent;
    button.textContent = picked ? form.dataset.picks.replace("{n}", picked) : button.dataset.none;
    button.disabled = picked === 0;
  }
}

export function startPicks() {
  document.addEventListener("change", count);
  addEventListener("pageshow", count);
  count();
}
