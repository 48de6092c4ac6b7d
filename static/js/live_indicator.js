/* Says in words how fresh the page is: Live, Catching up, Paused or Offline, and as of when (UTC). */
import { announce } from "./announce.js";
import { clock } from "./time.js";

const WORDS = { live: "Live", catching: "Catching up", paused: "Paused", offline: "Offline" };
// A reader is told of a loss only when it lasts: a quick reconnect is not worth an alarm.
const LOSS_MS = 4000;
let alarm = 0;

const part = (name) => document.querySelector(`#live-indicator [data-live-${name}]`);

export function showState(state, heard) {
  const root = document.getElementById("live-indicator");
  if (!root) return;
  root.dataset.state = state;
  part("word").textContent = WORDS[state];
  if (heard) part("time").textContent = clock(heard);
  const pause = part("pause");
  pause.hidden = false;
  pause.textContent = state === "paused" ? "Continue" : "Pause";
  pause.setAttribute("aria-pressed", String(state === "paused"));
}

export function hidePause() {
  const pause = part("pause");
  if (pause) pause.hidden = true;
}

export function showAlert(sentence) {
  const box = document.getElementById("live-alert");
  box.textContent = sentence;
  box.hidden = false;
}

export function lost(heard) {
  if (alarm) return;
  alarm = setTimeout(() => {
    showAlert(`The connection is lost. Tasks keep running; this page is as of ${clock(heard)} UTC and goes on by itself when the server answers.`);
  }, LOSS_MS);
}

export function found() {
  const box = document.getElementById("live-alert");
  if (alarm && !box.hidden) announce("The connection is back.");
  clearTimeout(alarm);
  alarm = 0;
  box.hidden = true;
}
