/* Copy buttons beside ids. Where the clipboard is refused the text is selected instead. */
import { announce } from "./announce.js";

function select(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.dataset.copied = "";
    announce("Copied.");
    setTimeout(() => delete button.dataset.copied, 1500);
  } catch {
    const shown = button.parentElement.querySelector("code");
    shown.textContent = button.dataset.copy;
    select(shown);
    announce("The browser did not allow copying. The text is selected: copy it with the keyboard.");
  }
}

export function startCopy() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });
}
