/**
 * Live parts of pages by server-sent events.
 *
 *     ledger, store ──(revision)──> a look, two a second at most ──> a text ──> every viewer
 *
 * Without viewers nothing is done. A part is made once for any number of viewers. A slow viewer gets the latest text
 * later, not every text.
 *
 * @module
 */
import type { Cancel, Clock } from "../kernel/time/clock.ts";

/** A part of a page: the event's name, and the present text. */
export interface LivePart {
  readonly event: string;
  /** Changes when the text may have changed. Called twice a second, so the method must be cheap. */
  revision(): string;
  text(): string;
}

/** Time between looks, ms. People perceive this delay as immediate. */
const LOOK_TIME = 500;

/**
 * The time between looks is at least this many times the duration of the last look. So looks take at most a twentieth
 * of the server's time.
 */
const LOOK_FACTOR = 20;

/** Time without events before a comment is sent, ms. The comment finds viewers that are gone. */
const STILL_THERE_TIME = 15_000;

/** Viewers at a time. Each viewer costs one of the server's thousand connections. */
export const MAX_VIEWERS = 100;

/** The events that a viewer has not received yet: the latest event of each name. */
class Viewer {
  readonly waiting = new Map<string, string>();
  wake = Promise.withResolvers<void>();

  put(event: string, text: string): void {
    this.waiting.set(event, text);
    this.wake.resolve();
  }
}

/** The viewers of a server. */
export class LiveEvents {
  readonly #parts: readonly LivePart[];
  readonly #clock: Clock;
  readonly #viewers = new Set<Viewer>();
  readonly #seen = new Map<string, { readonly revision: string; readonly text: string }>();
  #look: Cancel | undefined;
  /** Texts made so far. */
  made = 0;

  constructor(parts: readonly LivePart[], clock: Clock) {
    this.#parts = parts;
    this.#clock = clock;
  }

  /** Number of present viewers. */
  get size(): number {
    return this.#viewers.size;
  }

  /**
   * Events for a viewer until the signal aborts. The present events come first.
   *
   * @returns undefined: the number of viewers is at its limit
   */
  view(signal: AbortSignal): AsyncIterable<string> | undefined {
    if (this.#viewers.size >= MAX_VIEWERS) return undefined;
    const viewer = new Viewer();
    this.#viewers.add(viewer);
    this.#refresh();
    for (const [event, { text }] of this.#seen) viewer.put(event, text);
    this.#look ??= this.#clock.after(LOOK_TIME, () => this.#lookAgain());
    return this.#events(viewer, signal);
  }

  async *#events(viewer: Viewer, signal: AbortSignal): AsyncIterable<string> {
    const stop = () => viewer.wake.resolve();
    signal.addEventListener("abort", stop, { once: true });
    try {
      // A viewer that loses the connection connects again after three seconds.
      yield "retry: 3000\n\n";
      while (!signal.aborted) {
        const cancel = this.#clock.after(STILL_THERE_TIME, stop);
        await viewer.wake.promise;
        cancel();
        viewer.wake = Promise.withResolvers();
        if (signal.aborted) return;
        const events = [...viewer.waiting].map(([event, text]) => eventText(event, text));
        viewer.waiting.clear();
        yield events.length === 0 ? ":\n\n" : events.join("");
      }
    } finally {
      signal.removeEventListener("abort", stop);
      this.#viewers.delete(viewer);
    }
  }

  #lookAgain(): void {
    this.#look = undefined;
    if (this.#viewers.size === 0) return;
    const started = this.#clock.monotonic();
    for (const { event, text } of this.#refresh()) {
      for (const viewer of this.#viewers) viewer.put(event, text);
    }
    const took = this.#clock.monotonic() - started;
    this.#look = this.#clock.after(Math.max(LOOK_TIME, took * LOOK_FACTOR), () => this.#lookAgain());
  }

  /**
   * Makes the texts with a new revision.
   *
   * @returns the texts that differ
   */
  #refresh(): { readonly event: string; readonly text: string }[] {
    const changed: { event: string; text: string }[] = [];
    for (const part of this.#parts) {
      const before = this.#seen.get(part.event);
      const revision = part.revision();
      if (before?.revision === revision) continue;
      const text = part.text();
      this.made++;
      this.#seen.set(part.event, { revision, text });
      if (text !== before?.text) changed.push({ event: part.event, text });
    }
    return changed;
  }
}

/** An event in the wire format. A line of the text cannot end the event. */
function eventText(event: string, text: string): string {
  const lines = text.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `event: ${event}\n${lines.join("")}\n`;
}
