/**
 * Removes entries whose proxies have left.
 *
 * @module
 */
import type { ConfigStore } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { readConnection } from "./connection.ts";
import { DepartedEntries, type DepartedEntry, type DepartureTimes } from "./departed.ts";
import { EntryConflict, type EntryShelf } from "./shelf.ts";

export interface CleanUpParts {
  readonly store: Pick<ConfigStore, "list" | "subscribe">;
  /** The shelf of an entry; undefined: another clean-up is responsible for the entry. */
  readonly shelfOf: (entry: ConfigObject<"WorkloadEntry">) => EntryShelf | undefined;
  readonly times: DepartureTimes;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Pause between two deletions, milliseconds: 20 a second at the most. */
const DELETE_PAUSE_MS = 50;
/** Time until the store learns of a deletion, milliseconds. */
const GONE_MS = 1000;
/** Pause after a failed deletion, milliseconds. */
const RETRY_MS = 5000;

/** Cleans up until the signal aborts. */
export async function cleanUpEntries(parts: CleanUpParts, signal: AbortSignal): Promise<void> {
  const { store, shelfOf, times, clock } = parts;
  const departed = new DepartedEntries(times);
  let wake = new AbortController();
  const unsubscribe = store.subscribe(({ added, updated, refreshed }) => {
    const objects = [...added, ...[...updated, ...refreshed].map((one) => one.new)];
    if (objects.some(({ kind }) => kind === "WorkloadEntry")) wake.abort();
  });
  try {
    while (!signal.aborted) {
      wake = new AbortController();
      departed.see(store.list("WorkloadEntry").filter((entry) => shelfOf(entry) !== undefined), clock.monotonic());
      const due = departed.due(clock.monotonic());
      if (await removeAll(due, parts, signal)) await clock.sleep(RETRY_MS, signal).catch(() => {});
      else {
        const left = Math.max(departed.next - clock.monotonic(), due.length > 0 ? GONE_MS : 0);
        await pause(left, clock, AbortSignal.any([signal, wake.signal]));
      }
    }
  } finally {
    unsubscribe();
  }
}

/** @param ms Infinity: until the signal */
async function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  if (ms < Infinity) return await clock.sleep(ms, signal).catch(() => {});
  if (!signal.aborted) {
    await new Promise<void>((done) => signal.addEventListener("abort", () => done(), { once: true }));
  }
}

/** @returns whether a deletion failed */
async function removeAll(due: readonly DepartedEntry[], parts: CleanUpParts, signal: AbortSignal): Promise<boolean> {
  const { clock, log, metrics } = parts;
  let failed = false;
  for (const departed of due) {
    if (signal.aborted) return failed;
    try {
      if (await remove(departed, parts, signal)) {
        metrics.counter("auto_registration_deletes_total").inc();
        log.info("the entry of a departed workload is deleted", { entry: departed.key });
      }
    } catch (error) {
      if (signal.aborted) return failed;
      if (error instanceof EntryConflict) continue;
      failed = true;
      metrics.counter("auto_registration_errors_total").inc();
      log.warn("the entry of a departed workload cannot be deleted; the server tries again", {
        entry: departed.key,
        error,
      });
    }
    if (due.length > 1) await clock.sleep(DELETE_PAUSE_MS, signal).catch(() => {});
  }
  return failed;
}

/** Deletes an entry, unless the entry has changed since it was seen. */
async function remove(
  { namespace, name, mark, entry }: DepartedEntry,
  { shelfOf }: CleanUpParts,
  signal: AbortSignal,
): Promise<boolean> {
  const shelf = shelfOf(entry);
  const now = await shelf?.read({ namespace, name }, signal);
  if (shelf === undefined || now === undefined) return false;
  const connection = readConnection(now.annotations);
  if (connection.group === "" || connection.mark !== mark) return false;
  return await shelf.remove({ namespace, name }, now, signal);
}
