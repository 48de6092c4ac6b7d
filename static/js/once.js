/* A form marked data-once is sent once: its buttons rest from the first press on. The server decides once anyway. */
export function startOnce() {
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-once]");
    if (!form) return;
    if (form.dataset.sent) return void event.preventDefault();
    form.dataset.sent = "1";
    // After this event, or the pressed button's own value would be left out of what is sent.
    setTimeout(() => form.querySelectorAll("button").forEach((button) => { button.disabled = true; }));
  });
  // Back from the history the page is as it was left; its buttons must work again.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    for (const form of document.querySelectorAll("form[data-once]")) {
      delete form.dataset.sent;
      form.querySelectorAll("button").forEach((button) => { button.disabled = false; });
    }
  });
}
