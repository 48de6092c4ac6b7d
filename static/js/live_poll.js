/* The same messages over HTTP, for networks that block WebSockets. One request at a time. */
const EVERY_MS = 5000;
const LIMIT_MS = 10000;

export class Poller {
  #timer = 0;
  #running = false;

  /* `url()` gives the address with the cursor; the callbacks get the message, a refusal, or a failure. */
  constructor({ url, take, refused, failed }) {
    Object.assign(this, { url, take, refused, failed });
  }

  start() {
    if (this.#running) return;
    this.#running = true;
    this.#next(0);
  }

  stop() {
    this.#running = false;
    clearTimeout(this.#timer);
  }

  get running() {
    return this.#running;
  }

  #next(delay) {
    this.#timer = setTimeout(() => this.#ask(), delay);
  }

  async #ask() {
    try {
      const answer = await fetch(this.url(), { redirect: "manual", cache: "no-store", signal: AbortSignal.timeout(LIMIT_MS) });
      if (!this.#running) return;
      // A redirect leads to the sign-in page: the session is over.
      if (answer.type === "opaqueredirect" || answer.status === 401 || answer.status === 403) return this.refused();
      if (!answer.ok) throw new Error(answer.status);
      this.take(await answer.json());
    } catch {
      if (this.#running) this.failed();
    }
    if (this.#running) this.#next(EVERY_MS);
  }
}
