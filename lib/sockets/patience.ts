/**
 * How long remote ends may take. A process that is held up, by long work of its own or by other work of the machine,
 * does not read bytes that come meanwhile; its timers are due before its sockets are looked at, so it would end clients
 * that have long sent the bytes that it waits for. Time in which the event loop does not turn therefore hardly counts,
 * and nobody is judged before the sockets were looked at again.
 *
 * @module
 */

/** Where time comes from; tests have their own. */
export interface PatienceClock {
  /** Milliseconds, never going back. */
  monotonic(): number;
  /** Calls back once after so many milliseconds; returns a function that ends the timer. */
  after(ms: number, fire: () => void): () => void;
}

/** Looks at a deadline before it is due, and the shortest time between two of them in milliseconds. */
const LOOKS = 10, SHORTEST_LOOK = 10;

const CLOCK: PatienceClock = {
  monotonic: () => performance.now(),
  after(ms, fire) {
    const timer = setTimeout(fire, ms);
    return () => clearTimeout(timer);
  },
};

/** Time as remote ends are measured by it. {@linkcode RemoteTime.tick} must be called by a timer. */
export class RemoteTime {
  readonly #clock: () => number;
  readonly #longest: number;
  #at: number;
  #since: number;
  #spared = false;

  /**
   * @param longest milliseconds that count between two ticks; more is time in which the process was held up. Twice the
   * intended time between ticks is a good choice. Default 2,000.
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
   * @returns whether remote ends may be judged. False when the process was held up since the last tick: bytes that they
   * sent meanwhile are read before the next one. Never false twice in a row.
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
 * @param late called once when they have passed
 * @returns a function that calls it off; harmless afterwards
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
