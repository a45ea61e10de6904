/**
 * The index of the services that select workloads, readable in both directions, so that a change looks only at possible
 * matches.
 *
 * @module
 */
import { type Labels, selects } from "./labels.ts";
import type { Workload } from "./types.ts";

/** A selector of workloads: a service entry, or a service of the orchestrator. */
export interface SelectsWorkloads {
  readonly namespace: string;
  /** Absent: selects nothing. */
  readonly selector?: Labels;
}

/** Index of entries by their selectors, and of workloads by their labels. Matches are in one namespace. */
export class WorkloadSelection<E extends SelectsWorkloads> {
  /** Entries by a single label of the selector. */
  readonly #entries = new Map<string, Set<E>>();
  /** Workload ids by each of the workload's labels. */
  readonly #workloads = new Map<string, Map<string, Workload>>();

  addEntry(entry: E): void {
    const key = entryKey(entry);
    if (key === undefined) return;
    const bucket = this.#entries.get(key);
    if (bucket) bucket.add(entry);
    else this.#entries.set(key, new Set([entry]));
  }

  removeEntry(entry: E): void {
    const key = entryKey(entry);
    const bucket = key === undefined ? undefined : this.#entries.get(key);
    if (bucket?.delete(entry) && bucket.size === 0) this.#entries.delete(key!);
  }

  /** Adds a workload, or replaces a workload of the same namespace and labels. */
  addWorkload(id: string, workload: Workload): void {
    for (const key of workloadKeys(workload)) {
      const bucket = this.#workloads.get(key);
      if (bucket) bucket.set(id, workload);
      else this.#workloads.set(key, new Map([[id, workload]]));
    }
  }

  removeWorkload(id: string, workload: Workload): void {
    for (const key of workloadKeys(workload)) {
      const bucket = this.#workloads.get(key);
      if (bucket?.delete(id) && bucket.size === 0) this.#workloads.delete(key);
    }
  }

  /** The entries that select a workload. */
  *entriesOf(workload: Workload): IterableIterator<E> {
    for (const key of workloadKeys(workload)) {
      for (const entry of this.#entries.get(key) ?? []) if (selects(entry.selector!, workload.labels)) yield entry;
    }
  }

  /** The workloads selected by an entry, ordered by id. */
  workloadsOf(entry: E): Workload[] {
    let smallest: ReadonlyMap<string, Workload> | undefined;
    for (const [label, value] of Object.entries(entry.selector ?? {})) {
      const bucket = this.#workloads.get(bucketKey(entry.namespace, label, value));
      if (bucket === undefined) return [];
      if (smallest === undefined || bucket.size < smallest.size) smallest = bucket;
    }
    return [...smallest ?? []].filter(([, workload]) => selects(entry.selector!, workload.labels))
      .sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).map(([, workload]) => workload);
  }
}

function entryKey(entry: SelectsWorkloads): string | undefined {
  const label = Object.keys(entry.selector ?? {}).sort()[0];
  return label === undefined ? undefined : bucketKey(entry.namespace, label, (entry.selector as Labels)[label]!);
}

function workloadKeys(workload: Workload): string[] {
  return Object.entries(workload.labels).map(([label, value]) => bucketKey(workload.namespace, label, value));
}

function bucketKey(namespace: string, label: string, value: string): string {
  return `${namespace}|${label}=${value}`;
}
