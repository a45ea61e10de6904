/**
 * Duties: work that one of several servers does for all of them.
 *
 * @module
 */
import type { LockName } from "./locks.ts";

/** One duty of a server. Duties of one lock have one leader. */
export interface Duty {
  readonly lock: LockName;
  /** A few words for logs and pages: `root certificates in namespaces`. */
  readonly about: string;
  /**
   * Does the duty, from the moment of leadership.
   *
   * @param signal Aborts the moment that leadership is lost or the server stops. No write may begin after that, and
   * those that run are to be given up: pass it to each request.
   * @returns when nothing is written any more; before the signal it is a failure, and the duty is begun again
   */
  run(signal: AbortSignal): Promise<void>;
}
