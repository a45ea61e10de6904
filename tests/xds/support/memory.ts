/**
 * How many bytes are kept: what the heap holds after a full collection.
 *
 * @module
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes in use after garbage is collected and what waits for that (registries of weak references) has run. */
export async function keptBytes(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}
