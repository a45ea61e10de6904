/**
 * Entries whose proxies have left, and when they may go.
 *
 * A time is measured from when this server saw the entry in its present state, by its own monotonic clock: clocks of servers
 * differ by minutes, and a server that has just become leader waits once more. So an entry stays rather longer than the
 * grace period than shorter.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { readConnection } from "./connection.ts";

/** How long entries stay. Milliseconds. */
export interface DepartureTimes {
  /** After the proxy has left (`PILOT_WORKLOAD_ENTRY_GRACE_PERIOD`). */
  readonly grace: number;
  /** After which a connection that was not renewed is of a server that is gone; Infinity: connections have no end. */
  readonly connection: number;
}

export interface DepartedEntry {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  /** See `EntryConnection`: its value when the entry was seen. */
  readonly mark: string;
  readonly entry: ConfigObject<"WorkloadEntry">;
}

/** An entry that was seen. */
interface SeenEntry {
  readonly mark: string;
  readonly since: number;
  readonly entry: ConfigObject<"WorkloadEntry">;
  /** When it may go. */
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
      // An entry that was made anew is another one, though it says the same.
      const mark = entry.origin.from === "api" ? `${entry.origin.uid} ${connection}` : connection;
      const before = this.#seen.get(entry.key);
      const since = before?.mark === mark ? before.since : now;
      const due = since + (connected ? this.#times.connection : this.#times.grace);
      if (due < Infinity) seen.set(entry.key, { mark, since, entry, due });
    }
    this.#seen = seen;
  }

  /** Those that may go. */
  due(now: number): DepartedEntry[] {
    return [...this.#seen].filter(([, { due }]) => due <= now).map(([key, { entry }]) => {
      const { namespace, name } = entry.meta;
      return { key, namespace, name, entry, mark: readConnection(entry.meta.annotations).mark };
    });
  }

  /** When the next one may go; Infinity: none will. */
  get next(): number {
    let next = Infinity;
    for (const { due } of this.#seen.values()) next = Math.min(next, due);
    return next;
  }
}
