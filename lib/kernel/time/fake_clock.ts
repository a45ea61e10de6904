/**
 * A clock under the control of tests: time stands still until a test advances the clock.
 *
 * @module
 */
import { type Clock, sleepWith } from "./clock.ts";

/** A {@link Clock} moved by hand. */
export interface FakeClock extends Clock {
  /** Advances time by `ms` and fires due timers in order of time, then of creation. Lets promises settle in between. */
  advance(ms: number): Promise<void>;
  /** Timers not yet fired. */
  pending(): number;
}

/**
 * A fake clock.
 *
 * @param start Milliseconds since 1970. Default: 2026-01-01.
 */
export function createFakeClock(start: number = Date.UTC(2026, 0, 1)): FakeClock {
  let elapsed = 0;
  let order = 0;
  const timers = new Map<number, { at: number; fire: () => void }>();
  const nextDue = (end: number) =>
    [...timers].filter(([, timer]) => timer.at <= end).sort(([a, x], [b, y]) => x.at - y.at || a - b)[0];
  const clock: FakeClock = {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    after(ms, fire) {
      const id = order++;
      timers.set(id, { at: elapsed + Math.max(0, ms), fire });
      return () => void timers.delete(id);
    },
    sleep: (ms, signal) => sleepWith(clock, ms, signal),
    async advance(ms) {
      const end = elapsed + ms;
      await settle();
      for (let due = nextDue(end); due !== undefined; due = nextDue(end)) {
        const [id, timer] = due;
        timers.delete(id);
        elapsed = timer.at;
        timer.fire();
        await settle();
      }
      elapsed = end;
    },
    pending: () => timers.size,
  };
  return clock;
}

/** Lets chained promises run: every queued microtask runs before the next macrotask. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
