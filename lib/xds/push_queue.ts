/**
 * The push queue: streams that have something to be sent because sets have changed, served in order, a limited number
 * at a time.
 *
 * The limit (`PILOT_PUSH_THROTTLE`) is the number of streams whose push responses lie in memory: a place is free again
 * when the connection has taken the bytes (not when the client has answered, so that distant clients do not slow the
 * others) or has gone. Small responses are taken at once and never wait.
 *
 * @module
 */

/** A limit of 0 means: this many. It is Istio's rule too: 15 and 5 for each core, at most 100. */
export function defaultPushThrottle(cores: number): number {
  return Math.min(15 + 5 * cores, 100);
}

/** Streams served before the event loop gets its turn. */
const BATCH = 64;

/** Something to be served. */
export interface Pushable {
  /** Sends the differences; calls `taken` when the connection has taken them. */
  push(taken: () => void): void;
}

/** A queue without duplicates. */
export class PushQueue {
  readonly #waiting = new Map<Pushable, number>();
  readonly #serving = new Set<Pushable>();
  #scheduled = false;

  readonly #limit: number;
  readonly #onWait: (seconds: number) => void;

  /** @param onWait called with the time that a stream has waited, in seconds */
  constructor(limit: number, onWait: (seconds: number) => void) {
    this.#limit = limit;
    this.#onWait = onWait;
  }

  /** Streams that wait. */
  get length(): number {
    return this.#waiting.size;
  }

  /** Queues a stream unless it waits already. */
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
