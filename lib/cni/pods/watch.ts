/**
 * A watch that goes on: lists, follows the changes, and begins anew whenever that ends, for any reason. An error of
 * one connection, or one line that cannot be read, must not end the repair of pods.
 *
 * @module
 */
import type { Pod } from "./pod.ts";
import type { PodEvent } from "./source.ts";

/** One connection's worth of pods. */
export interface PodList {
  readonly pods: readonly Pod[];
  /** From where changes are followed. */
  readonly version: string;
}

/** The calls that a watch uses. Both throw when there is no answer. */
export interface WatchParts {
  list(): Promise<PodList>;
  /** Changes after a version, until the connection ends. */
  changes(version: string): AsyncIterable<PodEvent>;
}

/** Wait before a watch that failed, or ended sooner than that, is made again, milliseconds; twice as long each time. */
const AGAIN_MS = 1000;

/** Longest such wait, milliseconds. */
const MOST_MS = 30_000;

/**
 * The pods, each once, then every change, until the signal aborts; everything once more after each lost connection.
 *
 * @param troubled Called with the reason when a connection was lost.
 * @param sleep Waits, unless the signal aborts.
 */
export async function* watchPods(
  parts: WatchParts,
  signal: AbortSignal,
  troubled: (error: unknown) => void,
  sleep: (ms: number, signal: AbortSignal) => Promise<void> = pause,
): AsyncIterable<PodEvent> {
  const known = new Set<string>();
  let wait = AGAIN_MS;
  while (!signal.aborted) {
    const began = performance.now();
    try {
      const { pods, version } = await parts.list();
      const now = new Set(pods.map(keyOf));
      for (const key of known) if (!now.has(key)) yield gone(key);
      known.clear();
      for (const key of now) known.add(key);
      for (const pod of pods) yield { type: "pod", pod };
      for await (const event of parts.changes(version)) {
        wait = AGAIN_MS;
        if (event.type === "pod") known.add(keyOf(event.pod));
        else known.delete(keyOf(event));
        yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      troubled(error);
      if (performance.now() - began > MOST_MS) wait = AGAIN_MS;
      await sleep(wait, signal);
      wait = Math.min(2 * wait, MOST_MS);
      continue;
    }
    // One that ends at once, again and again, must not keep two machines busy.
    if (performance.now() - began < AGAIN_MS) await sleep(AGAIN_MS, signal);
  }
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

function gone(key: string): PodEvent {
  const [namespace = "", name = ""] = key.split("/");
  return { type: "gone", namespace, name };
}

/** A wait that an abort ends, without a throw. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
