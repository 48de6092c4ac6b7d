/*
 * Keeps a page up to date over one WebSocket (htmx's ws extension), by the sequence of the record.
 *
 * to the server:   {"type": "resume", "after": N}  on every connection, after a gap, and when a pause ends
 *                  {"type": "looking", "approval": ID, "shown": STATE}   from the desk: the card that it shows, "" for none,
 *                                                  and in which state it shows it: what became of it since is sent
 * from the server: {"seq": N, "html": "..."}       fragments up to event N (hx-swap-oob); "after": the cursor they start from
 *                  {"head": N}                     nothing more up to N: after each resume, and every 20 s
 * "waiting": how many approvals wait for the reader; rides with the fragments of the frame.
 * Pages over many tasks have no cursor: their messages carry no seq, and resume no after.
 * Close code 4403: the right was withdrawn; the page says so and does not try again.
 */
import { announce } from "./announce.js";
import { found, hidePause, lost, showAlert, showState as say } from "./live_indicator.js";
import { Poller } from "./live_poll.js";
import { swapIn } from "./live_swap.js";
import { clock, now } from "./time.js";
import { showWaiting } from "./waiting.js";

const WITHDRAWN = 4403;
const RETRIED_BY_HTMX = [1006, 1011, 1012, 1013];
const SILENCE_MS = 45000;
const ASK_AGAIN_MS = 1000;
const FAILURES_BEFORE_POLLING = 3;

let node = null;
let poller = null;
let wrapper = null;
let socket = null;
let asking = false;
let askedAt = 0;
let askTimer = 0;
let heard = 0;
let failures = 0;
let paused = false;
let ended = false;

// The frame of every page is live (the count of approvals); only a page whose content is live says so.
const frameOnly = () => node.dataset.frameOnly !== undefined;
function showState(state, at) {
  node.dataset.state = state;
  if (!frameOnly()) say(state, at);
}

const cursor = () => (node.dataset.seq === undefined ? null : Number(node.dataset.seq));
const isOpen = () => socket?.readyState === WebSocket.OPEN;
const delay = (tries) => Math.min(250 * 2 ** tries, 5000) * (0.5 + Math.random() / 2);

function ask() {
  clearTimeout(askTimer);
  if (!isOpen() || paused) return;
  const rest = askedAt + ASK_AGAIN_MS - Date.now();
  showState("catching", heard);
  if (rest > 0) {
    askTimer = setTimeout(ask, rest);
    return;
  }
  asking = true;
  askedAt = Date.now();
  const after = cursor();
  wrapper.sendImmediately(JSON.stringify(after === null ? { type: "resume" } : { type: "resume", after }), node);
}

/* In which state the desk shows the card beside its list: that part says so itself, also once it was swapped. */
const shown = () => document.getElementById(`card-state-${node.dataset.looking}`)?.dataset.shown ?? "";

/* The desk says which card it shows, so that others on the same card know, and what became of it is sent. */
function sayLooking() {
  if (isOpen() && node.dataset.looking !== undefined) wrapper.sendImmediately(JSON.stringify({ type: "looking", approval: node.dataset.looking, shown: shown() }), node);
}

/* Returns whether the message fits the cursor: neither already shown, nor behind a gap. */
function fits(message) {
  const here = cursor();
  if (here === null || message.seq === undefined) return true;
  if (message.seq <= here) return false;
  if (message.after !== undefined && message.after !== here) {
    ask();
    return false;
  }
  return true;
}

function take(message) {
  heard = now();
  failures = 0;
  found();
  if (paused) return showState("paused", 0);
  if (message.html !== undefined && fits(message)) {
    swapIn(message.html);
    if (message.seq !== undefined) node.dataset.seq = message.seq;
    announce(message.say);
  }
  if (message.waiting !== undefined) showWaiting(message.waiting);
  if (message.head !== undefined) {
    if (cursor() !== null && message.head > cursor()) return ask();
    asking = false;
  }
  return showState(asking && isOpen() ? "catching" : "live", heard);
}

function takeText(text) {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    return ask();
  }
  return take(message);
}

function end() {
  ended = true;
  if (frameOnly()) return;
  poller?.stop();
  hidePause();
  found();
  showState("offline", 0);
  hidePause();
  showAlert(`You may no longer see this, or your session has ended. What is shown is as of ${clock(heard)} UTC. Sign in again, or ask the workspace's administrator.`);
}

function offline() {
  if (paused || frameOnly()) return;
  showState("offline", 0);
  lost(heard);
}

function opened(event) {
  socket = event.detail.event.target;
  wrapper = event.detail.socketWrapper;
  askedAt = 0;
  heard = now();
  failures = 0;
  poller?.stop();
  found();
  ask();
  sayLooking();
}

function closed(event) {
  const { code, target } = event.detail.event;
  if (ended || (socket && isOpen() && target !== socket)) return;
  if (code === WITHDRAWN) return end();
  failures += 1;
  if (poller && failures >= FAILURES_BEFORE_POLLING) poller.start();
  else if (!poller?.running) offline();
  // The extension itself tries again only after these codes.
  if (!RETRIED_BY_HTMX.includes(code)) setTimeout(event.detail.socketWrapper.reconnect, delay(failures));
}

function watch() {
  if (!ended && isOpen() && now() - heard > SILENCE_MS) {
    heard = now();
    offline();
    wrapper.reconnect();
  }
}

export function togglePause() {
  if (!node || ended || frameOnly()) return;
  paused = !paused;
  if (paused) return showState("paused", heard);
  askedAt = 0;
  if (isOpen()) {
    ask();
    return sayLooking();  // what came meanwhile was thrown away
  }
  return poller?.running ? showState("catching", 0) : offline();
}

function pollUrl() {
  const url = new URL(node.dataset.poll, location.href);
  if (cursor() !== null) url.searchParams.set("after", cursor());
  if (node.dataset.looking) {
    url.searchParams.set("looking", node.dataset.looking);
    url.searchParams.set("shown", shown());
  }
  return url;
}

export function startLive() {
  node = document.getElementById("live");
  if (!node) return;
  heard = now();
  htmx.config.wsReconnectDelay = delay;
  if (node.dataset.poll) poller = new Poller({ url: pollUrl, take, refused: end, failed: offline });
  showState("catching", heard);
  node.addEventListener("htmx:wsOpen", opened);
  node.addEventListener("htmx:wsClose", closed);
  node.addEventListener("looking", sayLooking);
  node.addEventListener("htmx:wsBeforeMessage", (event) => {
    event.preventDefault();
    takeText(event.detail.message);
  });
  document.querySelector("[data-live-pause]")?.addEventListener("click", togglePause);
  addEventListener("online", () => { if (wrapper && !isOpen()) wrapper.reconnect(); });
  addEventListener("pagehide", () => { ended = true; });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  setInterval(watch, 5000);
}
