/**
 * Memory of the process.
 *
 * @module
 */

/**
 * Smaller heaps are left alone. A heap for 1,000 services would have 128 MiB resident instead of 152. But a heap made
 * small grows again when proxies come: 400 proxies cost 3.4 instead of 2.9 CPU seconds.
 */
const WORTH_IT = 64 * 1024 * 1024;

/**
 * Larger heaps are left alone, too, because the process must not stop for more than a second. A heap for 200,000
 * service entries (650 MB alive) took 1.5 s, and 3.3 s on a busy machine.
 */
const TOO_LONG = 200 * 1024 * 1024;

/** The engine's function under `--expose-gc`: https://v8.github.io/api/head/ (`GCExtension`). */
interface CollectingEngine {
  readonly gc?: (how: { readonly type: "major"; readonly flavor: "last-resort" }) => void;
}

/**
 * Collects garbage and gives free pages back to the system. Does nothing unless the engine offers the function
 * (`--v8-flags=--expose-gc`) and the heap has a size between `least` and 200 MiB. Collecting a larger heap could take
 * longer than a second.
 *
 * Call it at the end of a start: reading leaves partly free pages behind, and an idle server would keep these pages.
 * The collection takes about 4 ms for each MB alive, and nothing else runs during that time.
 *
 * @param heap Size of the heap in bytes: `Deno.memoryUsage().heapTotal`.
 * @param least Smallest heap worth the time. Default: 64 MiB. A program that runs beside every workload collects
 * smaller heaps.
 * @param engine The object with the engine's function; for tests.
 */
export function giveMemoryBack(
  heap: number,
  least = WORTH_IT,
  engine: CollectingEngine = globalThis as CollectingEngine,
): void {
  // The engine's usual collection moves next to nothing and so frees few pages. A `last-resort` collection frees them.
  if (heap >= least && heap <= TOO_LONG) engine.gc?.({ type: "major", flavor: "last-resort" });
}
