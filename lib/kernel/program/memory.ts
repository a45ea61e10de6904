/**
 * Memory of the process.
 *
 * @module
 */

/**
 * Heaps below this size are left as they are. One of 1,000 services would have 128 MiB resident instead of 152, but a
 * heap that was made small grows again when proxies come: 400 of them cost 3.4 instead of 2.9 CPU s.
 */
const WORTH_IT = 64 * 1024 * 1024;

/**
 * Heaps above this size are left as they are, too: nothing else may wait for more than a second. One of 200,000 service
 * entries (650 MB that live) took 1.5 s, and 3.3 s on a busy machine.
 */
const TOO_LONG = 200 * 1024 * 1024;

/** The function that the engine offers under `--expose-gc`: https://v8.github.io/api/head/ (`GCExtension`). */
interface CollectingEngine {
  readonly gc?: (how: { readonly type: "major"; readonly flavor: "last-resort" }) => void;
}

/**
 * Collects garbage and gives free pages back to the system, where a flag of the engine offers that
 * (`--v8-flags=--expose-gc`) and the heap is large, but not so large that it would take a second; else does nothing.
 *
 * For the end of a start: reading leaves pages behind that are partly free, and a server that rests would keep them. It
 * takes some 4 ms for each MB that lives, in which nothing else runs.
 *
 * @param heap Bytes that the heap takes: `Deno.memoryUsage().heapTotal`.
 * @param least Size from which it is worth the time; default 64 MiB. A program that runs beside every workload collects
 * smaller heaps.
 * @param engine The object with the engine's function; for tests.
 */
export function giveMemoryBack(
  heap: number,
  least = WORTH_IT,
  engine: CollectingEngine = globalThis as CollectingEngine,
): void {
  // The collector's usual run moves next to nothing, so it frees few pages; this one does.
  if (heap >= least && heap <= TOO_LONG) engine.gc?.({ type: "major", flavor: "last-resort" });
}
