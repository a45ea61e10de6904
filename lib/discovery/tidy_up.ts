/**
 * The end of a start: loads what is needed later, and gives back the memory that reading and analysis took.
 *
 * @module
 */

import type { Kernel } from "../kernel/kernel.ts";

/** Milliseconds that a started server is left alone before it gives memory back. */
const REST_MS = 500;

/** The work at the end of a start. */
export interface StartWork {
  /** Resolves when reading and analysis are over. */
  readonly done: () => Promise<void>;
  /** Whether anybody would have to wait for a garbage collection: a connected proxy, or the end of the program. */
  readonly isBusy: () => boolean;
  readonly giveBack: () => void;
  /** A number that differs after any work for a client. */
  readonly activity: () => number;
  /** Loads the modules whose loading a first user would wait for. */
  readonly load: () => Promise<void>;
  /** Resolves after a while; rejects when the server is stopped. */
  readonly rest: () => Promise<void>;
}

/**
 * Loads modules in the first rest without work for clients, and gives memory back once after the work of a start. A
 * busy server keeps its memory: proxies would wait for the collection, and need the memory again.
 */
export async function tidyUp(work: StartWork): Promise<void> {
  const { done, isBusy, giveBack, load } = work;
  await done();
  // Clients that wait for a ready server ask during the rest, and proxies that lost another server connect.
  let state = await restOf(work);
  // Loaded before the collection, which takes the garbage of loading as well.
  if (state === "quiet") await load();
  if (state !== "over" && !isBusy()) giveBack();
  if (state !== "worked") return;
  while (state === "worked") state = await restOf(work);
  if (state === "quiet") await load();
}

async function restOf({ rest, activity }: Pick<StartWork, "rest" | "activity">): Promise<"quiet" | "worked" | "over"> {
  const before = activity();
  const isOver = await rest().then(() => false, () => true);
  if (isOver) return "over";
  return activity() === before ? "quiet" : "worked";
}

/** Loads modules and gives memory back in a running server. The wait ends with the kernel. */
export function startTidyUp(work: Omit<StartWork, "rest">, kernel: Pick<Kernel, "clock" | "stopper">): void {
  const stopped = new AbortController();
  kernel.stopper.add("rest after the start", () => stopped.abort());
  const rest = () => kernel.clock.sleep(REST_MS, stopped.signal);
  void tidyUp({ ...work, rest });
}
