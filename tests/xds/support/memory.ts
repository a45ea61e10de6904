/**
 * How many bytes are kept: what the heap holds after a full collection.
 *
 * @module
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes in use after garbage is collected and what waits for that (registries of weak references) has run. */
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

/** Bytes that were ever taken from the heap: a measure of work that does not depend on time. */
export function allocatedBytes(): number {
  // Newer than the types that come with the runtime.
  const statistics = getHeapStatistics() as unknown as { total_allocated_bytes: number };
  return statistics.total_allocated_bytes;
}
