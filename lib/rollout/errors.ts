/**
 * Whether errors have risen since a rollout began.
 *
 * @module
 */

/** Requests and failed requests per second. */
export interface ErrorRate {
  readonly requests: number;
  readonly errors: number;
}

/** Fewer failed requests per second say nothing. */
const FEWEST_ERRORS = 0.02;

/** The share of failed requests may rise by this much, or double, whichever is more. */
const TOLERATED = 0.01;

function shareOf({ requests, errors }: ErrorRate): number {
  return requests <= 0 ? 0 : Math.min(1, errors / requests);
}

/** Says in words how the share of failed requests has risen. Empty: it has not. */
export function risenErrors(before: ErrorRate, now: ErrorRate): string {
  const [then, present] = [shareOf(before), shareOf(now)];
  if (now.errors < FEWEST_ERRORS || present <= then + Math.max(TOLERATED, then)) return "";
  const percent = (share: number) => `${Number((share * 100).toPrecision(3))}%`;
  return `${percent(present)} of the requests fail, and ${percent(then)} failed before`;
}
