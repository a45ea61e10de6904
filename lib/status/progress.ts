/**
 * The progress of an object: the number of proxies with the object in force, summed over the servers of the mesh.
 *
 * @module
 */

/** A server's knowledge of an object. */
export interface ObjectProgress {
  /** The generation that the server counted. */
  readonly generation: number;
  /** Proxies of this server that have a resource of the object, or will have one. */
  readonly total: number;
  /** Proxies that have acknowledged all resources of the object. */
  readonly live: number;
  /** Proxies that have rejected a resource of the object. */
  readonly rejected: number;
  /** The words of a rejection; empty: there is no rejection. The words stay the same while any proxy repeats them. */
  readonly reason: string;
}

/** The progress of an object to the proxies; `nowhere`: no connected proxy has a resource of the object. */
export type ProgressState = "live" | "nowhere" | "pending" | "rejected";

/** See {@linkcode sumProgress}. */
export interface ProgressSum extends Omit<ObjectProgress, "generation"> {
  readonly state: ProgressState;
}

/**
 * The sum over all servers.
 *
 * @param of The report of each server; undefined: the server has not heard of the object. Proxies in a report of an
 * earlier generation count as proxies without the present generation.
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
