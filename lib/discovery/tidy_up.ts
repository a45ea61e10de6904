/**
 * The end of a start: the memory that reading and analysis took is given back.
 *
 * @module
 */

import type { Kernel } from "../kernel/kernel.ts";

/** How long a server that was started is left alone before it gives memory back, milliseconds. */
const REST_MS = 500;

/** The work at the end of a start. */
export interface StartWork {
  /** Resolves when reading and analysis are over. */
  readonly done: () => Promise<void>;
  /** Whether anybody would have to wait for a collection: a proxy that is served, or the end of the program. */
  readonly isBusy: () => boolean;
  readonly giveBack: () => void;
  /** Resolves after a while; rejects when the server is stopped. */
  readonly rest: () => Promise<void>;
}

/**
 * Gives memory back once, when the work of a start is over. Not where somebody is busy then: proxies would wait for it,
 * and need the memory again.
 */
export async function tidyUp({ done, isBusy, giveBack, rest }: StartWork): Promise<void> {
  await done();
  // Clients that wait for the server to be ready ask now, and proxies that lost another one connect.
  const isOver = await rest().then(() => false, () => true);
  if (!isOver && !isBusy()) giveBack();
}

/** The same for a server; it ends with the kernel. */
export function startTidyUp(work: Omit<StartWork, "rest">, kernel: Pick<Kernel, "clock" | "stopper">): void {
  const stopped = new AbortController();
  kernel.stopper.add("rest after the start", () => stopped.abort());
  const rest = () => kernel.clock.sleep(REST_MS, stopped.signal);
  void tidyUp({ ...work, rest });
}
