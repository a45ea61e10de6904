/**
 * The push queue: streams with unsent changes, served in order, a limited number at a time.
 *
 * The limit (`PILOT_PUSH_THROTTLE`) is the number of streams whose push responses lie in memory. A place is free again
 * when the connection has taken the bytes, or is gone. The queue does not wait for the client's answer, so that distant
 * clients do not slow the others. Small responses are taken at once and never wait.
 *
 * @module
 */

/** The throttle for a limit of 0, by Istio's rule: 15 and 5 for each core, at most 100. */
export function defaultPushThrottle(cores: number): number {
  return Math.min(15 + 5 * cores, 100);
}

/** Streams served before the event loop gets its turn. */
const BATCH = 64;

/** Something to be served. */
export interface Pushable {
  /** Sends the differences, and calls `taken` when the connection has taken the bytes. */
  push(taken: () => void): void;
}

/** A queue without duplicates. */
export class PushQueue {
  readonly #waiting = new Map<Pushable, number>();
  readonly #serving = new Set<Pushable>();
  #scheduled = false;

  readonly #limit: number;
  readonly #onWait: (seconds: number) => void;

  /** @param onWait called with the waiting time of each stream, in seconds */
  constructor(limit: number, onWait: (seconds: number) => void) {
    this.#limit = limit;
    this.#onWait = onWait;
  }

  /** Number of waiting streams. */
  get length(): number {
    return this.#waiting.size;
  }

  /** Queues a stream, unless it is already waiting. */
  add(stream: Pushable): void {
    if (!this.#waiting.has(stream)) this.#waiting.set(stream, performance.now());
    this.#schedule();
  }

  /** Forgets a stream. */
  remove(stream: Pushable): void {
    this.#waiting.delete(stream);
    if (this.#serving.delete(stream)) this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setTimeout(() => this.#serve(), 0);
  }

  #serve(): void {
    this.#scheduled = false;
    let served = 0;
    for (const [stream, since] of this.#waiting) {
      if (this.#serving.size >= this.#limit) return;
      if (served++ >= BATCH) return this.#schedule();
      if (this.#serving.has(stream)) continue;
      this.#waiting.delete(stream);
      this.#serving.add(stream);
      this.#onWait((performance.now() - since) / 1000);
      stream.push(() => {
        this.#serving.delete(stream);
        if (this.#waiting.size > 0) this.#schedule();
      });
    }
  }
}
