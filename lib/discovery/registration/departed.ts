/**
 * Entries whose proxies have left, and the time of their removal.
 *
 * The time counts from the moment at which this server saw the present state of the entry, on the server's own
 * monotonic clock: clocks of servers differ by minutes, and a new leader waits once more. So an entry rather stays
 * longer than the grace period.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { readConnection } from "./connection.ts";

/** How long entries stay. Milliseconds. */
export interface DepartureTimes {
  /** After the proxy has left (`PILOT_WORKLOAD_ENTRY_GRACE_PERIOD`). */
  readonly grace: number;
  /**
   * Age at which a connection that was not renewed belongs to a server that is gone; Infinity: connections have no end.
   */
  readonly connection: number;
}

export interface DepartedEntry {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  /** The `mark` of `EntryConnection` when the entry was seen. */
  readonly mark: string;
  readonly entry: ConfigObject<"WorkloadEntry">;
}

interface SeenEntry {
  readonly mark: string;
  readonly since: number;
  readonly entry: ConfigObject<"WorkloadEntry">;
  /** When the entry may be removed. */
  readonly due: number;
}

export class DepartedEntries {
  readonly #times: DepartureTimes;
  #seen: ReadonlyMap<string, SeenEntry> = new Map();

  constructor(times: DepartureTimes) {
    this.#times = times;
  }

  /**
   * Looks at all registered entries.
   *
   * @param now of a monotonic clock, milliseconds
   */
  see(entries: Iterable<ConfigObject<"WorkloadEntry">>, now: number): void {
    const seen = new Map<string, SeenEntry>();
    for (const entry of entries) {
      const { group, connected, controller, mark: connection } = readConnection(entry.meta.annotations);
      if (group === "" || controller === "") continue;
      // A recreated entry counts as new, even with the same annotations.
      const mark = entry.origin.from === "api" ? `${entry.origin.uid} ${connection}` : connection;
      const before = this.#seen.get(entry.key);
      const since = before?.mark === mark ? before.since : now;
      const due = since + (connected ? this.#times.connection : this.#times.grace);
      if (due < Infinity) seen.set(entry.key, { mark, since, entry, due });
    }
    this.#seen = seen;
  }

  /** The entries that may be removed. */
  due(now: number): DepartedEntry[] {
    return [...this.#seen].filter(([, { due }]) => due <= now).map(([key, { entry }]) => {
      const { namespace, name } = entry.meta;
      return { key, namespace, name, entry, mark: readConnection(entry.meta.annotations).mark };
    });
  }

  /** When the next entry may be removed; Infinity: no entry will be due. */
  get next(): number {
    let next = Infinity;
    for (const { due } of this.#seen.values()) next = Math.min(next, due);
    return next;
  }
}
