/**
 * When a watched folder is swept: the identity of every file is compared with its identity at the last read.
 *
 * A sweep is needed after several events, because the runtime drops events when more than 16 are waiting. A sweep also
 * runs once a minute, because some file systems (network mounts, shared folders of virtual machines) give no events at
 * all. Sweeps take a bounded part of the time.
 *
 * @module
 */

/** Events after which the runtime may have dropped some: half of the runtime's queue. */
const EVENTS_BEFORE_SWEEP = 8;
/** Part of the time that sweeps may take. The sweep of a folder of 20,000 files takes about a second. */
const SWEEP_SHARE = 0.05;
/** How often the folder is swept anyway, ms. */
const SWEEP_EVERY_MS = 60_000;
/** How often the folder is swept while a part of it gives no events, ms. */
const SWEEP_BLIND_MS = 1000;

/** Counts events and sweeps of a folder. Times are ms of a steady clock. */
export class SweepPlan {
  #events = 0;
  #began = 0;
  #lastAt = 0;
  #nextAt = 0;
  /** Events cover only a part of the folder. */
  blind = false;

  /** An event arrived. */
  event(): void {
    this.#events += 1;
  }

  /** A sweep begins. The sweep sees all earlier changes. */
  begin(now: number): void {
    this.#events = 0;
    this.#began = now;
  }

  /** The sweep has ended. */
  end(now: number): void {
    this.#lastAt = now;
    this.#nextAt = now + (now - this.#began) / SWEEP_SHARE;
  }

  /** How long to wait for the next sweep, ms; undefined when none is needed. */
  wait(now: number): number | undefined {
    const isNeeded = this.#events >= EVENTS_BEFORE_SWEEP ||
      now - this.#lastAt > (this.blind ? SWEEP_BLIND_MS : SWEEP_EVERY_MS);
    return isNeeded ? Math.max(0, this.#nextAt - now) : undefined;
  }
}
