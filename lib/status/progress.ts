/**
 * How far an object has come: on how many proxies it is in force, summed over the servers of the mesh.
 *
 * @module
 */

/** One server's knowledge of one object. */
export interface ObjectProgress {
  /** The generation that this is about. */
  readonly generation: number;
  /** Proxies of this server that have something of the object, or are to have it. */
  readonly total: number;
  /** Those of them that have acknowledged all of it. */
  readonly live: number;
  /** Those of them that have rejected something that is made of it. */
  readonly rejected: number;
  /** The words of one rejection, the same one as long as any proxy says them; empty: there is none. */
  readonly reason: string;
}

/** The progress of an object to the proxies; `nowhere`: no connected proxy has anything of it. */
export type ProgressState = "live" | "nowhere" | "pending" | "rejected";

/** See {@linkcode sumProgress}. */
export interface ProgressSum extends Omit<ObjectProgress, "generation"> {
  readonly state: ProgressState;
}

/**
 * The sum over all servers.
 *
 * @param of The report of each server; undefined: it has not heard of the object. A report of an earlier generation
 * counts as proxies that do not have the present one.
 */
export function sumProgress(generation: number, of: Iterable<ObjectProgress | undefined>): ProgressSum {
  let [total, live, rejected, behind, reason] = [0, 0, 0, false, ""];
  for (const one of of) {
    if (one === undefined) {
      behind = true;
      continue;
    }
    total += one.total;
    if (one.generation < generation) {
      behind = true;
      continue;
    }
    live += one.live;
    rejected += one.rejected;
    if (one.reason !== "" && (reason === "" || one.reason < reason)) reason = one.reason;
  }
  const state = rejected > 0 ? "rejected" : behind || live < total ? "pending" : total === 0 ? "nowhere" : "live";
  return { total, live, rejected, reason, state };
}
