/**
 * Duties: work that one server of several does for all servers.
 *
 * @module
 */
import type { LockName } from "./locks.ts";

/** A duty of a server. Duties under one lock have the same leader. */
export interface Duty {
  readonly lock: LockName;
  /** A few words for logs and pages: `root certificates in namespaces`. */
  readonly about: string;
  /**
   * Does the duty, from the moment of leadership.
   *
   * @param signal Aborts at the moment when leadership is lost or the server stops. Afterwards no write may begin, and
   * running writes must be given up: pass the signal to each request.
   * @returns after the last write. A return before the signal aborts is a failure, and the duty is begun again
   */
  run(signal: AbortSignal): Promise<void>;
}
