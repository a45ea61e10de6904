/**
 * The locks of a server's duties, for pages: pages are served before the duties begin.
 *
 * @module
 */
import type { LockState } from "../../orch/leader/duty_runner.ts";
import type { RemoteLockState } from "../clusters/remote_clusters.ts";
import type { ServerDuties } from "./duties.ts";

/** Shows the locks of the followed duties. Before the duties begin the list is empty. */
export class DutyLocks {
  #duties: ServerDuties | undefined;

  /** Shows the locks of `duties` from now on. */
  follow(duties: ServerDuties): void {
    this.#duties = duties;
  }

  /** The leaders of all locks as of the last read. */
  states(): readonly (LockState | RemoteLockState)[] {
    return this.#duties?.states() ?? [];
  }
}
