/**
 * Kept bytes: the heap after a full collection.
 * @module
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/**
 * Bytes in use after a collection of garbage and the work that waits for a collection (registries of weak references).
 */
export async function keptBytes(): Promise<number> {
  for (let i = 0; i < 6; i++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return bytesInUse();
}

/** Bytes in use after a collection in the midst of a turn of the event loop. */
export function bytesInUse(): number {
  collect();
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

/** All bytes ever taken from the heap: a measure of work independent of time. */
export function allocatedBytes(): number {
  // Newer than the types of the runtime.
  const statistics = getHeapStatistics() as unknown as { total_allocated_bytes: number };
  return statistics.total_allocated_bytes;
}
