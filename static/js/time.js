/* Keeps relative times and countdowns fresh by the server's clock; `u` shows absolute times instead. */
const STEPS = [[60, 1, "s"], [3600, 60, "min"], [86400, 3600, "h"], [30 * 86400, 86400, "d"]];
const LENGTHS = [[3600, 60, "min", 1, "s"], [86400, 3600, "h", 60, "min"], [Infinity, 86400, "d", 3600, "h"]];
const HABIT = "handrail.absolute";
let offset = 0;

export const now = () => Date.now() + offset;
export const clock = (ms) => new Date(ms).toISOString().slice(11, 19);

export function relative(seconds) {
  for (const [limit, size, unit] of STEPS) {
    if (Math.abs(seconds) >= limit) continue;
    const count = Math.floor(Math.abs(seconds) / size);
    if (unit === "s" && count === 0) return "now";
    return seconds > 0 ? `${count} ${unit} ago` : `in ${count} ${unit}`;
  }
  return null;
}

export function remaining(seconds) {
  const whole = Math.floor(seconds);
  if (whole < 60) return `${whole} s`;
  for (const [limit, size, unit, small, below] of LENGTHS) {
    if (whole >= limit) continue;
    const rest = Math.floor((whole % size) / small);
    return `${Math.floor(whole / size)} ${unit}${rest ? ` ${rest} ${below}` : ""}`;
  }
}

function write(node, text) {
  if (text !== null && node.textContent !== text) node.textContent = text;
}

function refresh() {
  const absolute = document.documentElement.classList.contains("absolute-times");
  for (const node of document.querySelectorAll("time[data-relative]")) {
    const seconds = (now() - Date.parse(node.dateTime)) / 1000;
    write(node, absolute ? node.dataset.absolute ?? null : relative(seconds));
  }
  for (const node of document.querySelectorAll("time[data-countdown]")) {
    const left = (Date.parse(node.dateTime) - now()) / 1000;
    node.parentElement.classList.toggle("countdown-over", left <= 0);
    write(node, absolute ? node.dataset.absolute : left <= 0 ? "time is up" : `${remaining(left)} left`);
  }
}

export function toggleAbsolute() {
  const on = document.documentElement.classList.toggle("absolute-times");
  localStorage.setItem(HABIT, on ? "1" : "");
  refresh();
}

export function startTime() {
  const served = Number(document.documentElement.dataset.now) * 1000;
  // A page that comes back out of the browser's store is old by its nature: its clock says nothing about ours.
  const stored = performance.getEntriesByType("navigation")[0]?.type === "back_forward";
  if (served && !stored && Math.abs(served - Date.now()) > 2000) offset = served - Date.now();
  document.documentElement.classList.toggle("absolute-times", localStorage.getItem(HABIT) === "1");
  refresh();
  setInterval(refresh, 1000);
}
