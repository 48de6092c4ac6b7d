/* One polite announcer for the page. Sentences that arrive together are read together, after a pause. */
const PAUSE = 1200;
let waiting = [];
let timer = 0;

export function announce(sentence) {
  if (!sentence) return;
  waiting.push(sentence);
  clearTimeout(timer);
  timer = setTimeout(() => {
    // A burst is summed up: nobody listens to forty sentences.
    const said = waiting.length > 3 ? `${waiting.length} updates. ${waiting.at(-1)}` : waiting.join(" ");
    document.getElementById("announcer").textContent = said;
    waiting = [];
  }, PAUSE);
}
