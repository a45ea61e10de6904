/**
 * The end of a start: gives back the memory that reading and analysis took.
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
  /** Resolves after a while; rejects when the server is stopped. */
  readonly rest: () => Promise<void>;
}

/**
 * Gives memory back once after the work of a start. A busy server keeps its memory: proxies would wait for the
 * collection, and need the memory again.
 */
export async function tidyUp({ done, isBusy, giveBack, rest }: StartWork): Promise<void> {
  await done();
  // Clients that wait for a ready server ask during the rest, and proxies that lost another server connect.
  const isOver = await rest().then(() => false, () => true);
  if (!isOver && !isBusy()) giveBack();
}

/** Gives memory back in a running server. The wait ends with the kernel. */
export function startTidyUp(work: Omit<StartWork, "rest">, kernel: Pick<Kernel, "clock" | "stopper">): void {
  const stopped = new AbortController();
  kernel.stopper.add("rest after the start", () => stopped.abort());
  const rest = () => kernel.clock.sleep(REST_MS, stopped.signal);
  void tidyUp({ ...work, rest });
}
