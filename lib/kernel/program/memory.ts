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

/** Collects all garbage, and compacts. The engine's usual collection moves next to nothing and so frees few pages. */
const COMPACTING = { type: "major", flavor: "last-resort" } as const;

/** Collects what came last and is garbage already. Takes about a millisecond, however large the heap is. */
const YOUNG = { type: "minor" } as const;

/** The engine's function under `--expose-gc`: https://v8.github.io/api/head/ (`GCExtension`). */
interface CollectingEngine {
  readonly gc?: (how: typeof COMPACTING | typeof YOUNG) => void;
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
  if (heap >= least && heap <= TOO_LONG) engine.gc?.(COMPACTING);
}

/**
 * Like {@linkcode giveMemoryBack}, for a heap of more than 200 MiB, whose collection may take longer than a second. To
 * be called while nobody waits for the program.
 *
 * @param heap Size of the heap in bytes: `Deno.memoryUsage().heapTotal`.
 * @param engine The object with the engine's function; for tests.
 */
export function compactLargeHeap(heap: number, engine: CollectingEngine = globalThis as CollectingEngine): void {
  if (heap > TOO_LONG) engine.gc?.(COMPACTING);
}

/**
 * Frees the memory of garbage that has just been made, in about a millisecond. Does nothing unless the engine offers the
 * function. The engine itself waits for more garbage of its own heap: 100 node tunnels that report what they have leave
 * 200 MB of read bytes behind, and hardly anything in the heap.
 *
 * @param engine The object with the engine's function; for tests.
 */
export function collectYoung(engine: CollectingEngine = globalThis as CollectingEngine): void {
  engine.gc?.(YOUNG);
}
