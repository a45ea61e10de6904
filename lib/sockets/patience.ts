/**
 * Time limits of remote ends.
 *
 * A process may stall, by long work of its own or by other work of the machine. Bytes that arrive meanwhile stay
 * unread. The timers of a stalled process fire before the sockets are read, so that clients would be cut off although
 * the awaited bytes have arrived. Therefore the time of a stalled event loop hardly counts, and no client is judged
 * before the sockets have been read again.
 *
 * @module
 */

/** The source of time; tests have a source of their own. */
export interface PatienceClock {
  /** Milliseconds, never going back. */
  monotonic(): number;
  /** Calls back once after `ms` milliseconds; returns a function that ends the timer. */
  after(ms: number, fire: () => void): () => void;
}

/** The number of looks at a deadline before it is due, and the shortest time between two looks in milliseconds. */
const LOOKS = 10, SHORTEST_LOOK = 10;

const CLOCK: PatienceClock = {
  monotonic: () => performance.now(),
  after(ms, fire) {
    const timer = setTimeout(fire, ms);
    return () => clearTimeout(timer);
  },
};

/** The clock for remote ends. A timer must call {@linkcode RemoteTime.tick}. */
export class RemoteTime {
  readonly #clock: () => number;
  readonly #longest: number;
  #at: number;
  #since: number;
  #spared = false;

  /**
   * @param longest most milliseconds that count between two ticks. Longer means a stalled process. Twice the intended
   * time between ticks is a good choice. Default 2,000.
   * @param clock milliseconds, never going back
   */
  constructor(longest = 2000, clock: () => number = CLOCK.monotonic) {
    this.#longest = longest;
    this.#clock = clock;
    this.#at = this.#since = clock();
  }

  /** Milliseconds, never going back. */
  get now(): number {
    return this.#at + Math.min(this.#clock() - this.#since, this.#longest);
  }

  /**
   * The event loop has turned.
   *
   * @returns whether remote ends may be judged. False: the process has stalled since the last tick, and bytes of remote
   * ends are read before the next tick. Never false twice in a row.
   */
  tick(): boolean {
    const now = this.#clock();
    const heldUp = now - this.#since > this.#longest;
    this.#at = this.now;
    this.#since = now;
    this.#spared = heldUp && !this.#spared;
    return !this.#spared;
  }
}

/**
 * A deadline for a remote end, in {@linkcode RemoteTime}.
 *
 * @param ms milliseconds, above 0
 * @param late called once when the time has passed
 * @returns a function that cancels the deadline; harmless afterwards
 */
export function remoteDeadline(ms: number, late: () => void, clock: PatienceClock = CLOCK): () => void {
  const between = Math.max(SHORTEST_LOOK, ms / LOOKS);
  const time = new RemoteTime(2 * between, () => clock.monotonic());
  const end = time.now + ms;
  const look = (): void => {
    if (time.tick() && time.now >= end) return late();
    wait();
  };
  let cancel: () => void;
  const wait = () => void (cancel = clock.after(Math.max(1, Math.min(between, end - time.now)), look));
  wait();
  return () => cancel();
}
