/**
 * The index of the services that select workloads, readable in both directions, so that a change looks only at possible
 * matches.
 *
 * @module
 */
import { type Labels, selects } from "./labels.ts";
import type { Workload } from "./types.ts";

/** A workload that may be selected. */
export interface SelectionCandidate {
  readonly namespace: string;
  readonly labels: Labels;
}

/** A selector of workloads: a service entry, or a service of the orchestrator. */
export interface SelectsWorkloads {
  readonly namespace: string;
  /** Absent: selects nothing. */
  readonly selector?: Labels;
}

/** Index of entries by their selectors, and of workloads by their labels. Matches are in one namespace. */
export class WorkloadSelection<E extends SelectsWorkloads, W extends SelectionCandidate = Workload> {
  /** Entries by a single label of the selector. */
  readonly #entries = new Map<string, Set<E>>();
  /** Workload ids by each of the workload's labels. Undefined: made when an entry first selects. */
  #workloads: Map<string, Map<string, W>> | undefined;
  readonly #known: (() => Iterable<readonly [id: string, workload: W]>) | undefined;

  /**
   * @param known The added workloads, for an index that seldom has an entry: until an entry selects, workloads cost
   * nothing. Default: workloads are indexed as they are added.
   */
  constructor(known?: () => Iterable<readonly [id: string, workload: W]>) {
    this.#known = known;
    if (known === undefined) this.#workloads = new Map();
  }

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
  addWorkload(id: string, workload: W): void {
    if (this.#workloads !== undefined) index(this.#workloads, id, workload);
  }

  removeWorkload(id: string, workload: SelectionCandidate): void {
    const workloads = this.#workloads;
    if (workloads === undefined) return;
    for (const key of workloadKeys(workload)) {
      const bucket = workloads.get(key);
      if (bucket?.delete(id) && bucket.size === 0) workloads.delete(key);
    }
  }

  /** The entries that select a workload. */
  *entriesOf(workload: SelectionCandidate): IterableIterator<E> {
    if (this.#entries.size === 0) return;
    for (const key of workloadKeys(workload)) {
      for (const entry of this.#entries.get(key) ?? []) if (selects(entry.selector!, workload.labels)) yield entry;
    }
  }

  /** The workloads selected by an entry, ordered by id. */
  workloadsOf(entry: E): W[] {
    let smallest: ReadonlyMap<string, W> | undefined;
    for (const [label, value] of Object.entries(entry.selector ?? {})) {
      const bucket = this.#indexed().get(bucketKey(entry.namespace, label, value));
      if (bucket === undefined) return [];
      if (smallest === undefined || bucket.size < smallest.size) smallest = bucket;
    }
    return [...smallest ?? []].filter(([, workload]) => selects(entry.selector!, workload.labels))
      .sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).map(([, workload]) => workload);
  }

  #indexed(): ReadonlyMap<string, ReadonlyMap<string, W>> {
    if (this.#workloads !== undefined) return this.#workloads;
    const workloads = this.#workloads = new Map<string, Map<string, W>>();
    for (const [id, workload] of this.#known?.() ?? []) index(workloads, id, workload);
    return workloads;
  }
}

function index<W extends SelectionCandidate>(workloads: Map<string, Map<string, W>>, id: string, workload: W): void {
  for (const key of workloadKeys(workload)) {
    const bucket = workloads.get(key);
    if (bucket) bucket.set(id, workload);
    else workloads.set(key, new Map([[id, workload]]));
  }
}

function entryKey(entry: SelectsWorkloads): string | undefined {
  const label = Object.keys(entry.selector ?? {}).sort()[0];
  return label === undefined ? undefined : bucketKey(entry.namespace, label, (entry.selector as Labels)[label]!);
}

function workloadKeys(workload: SelectionCandidate): string[] {
  return Object.entries(workload.labels).map(([label, value]) => bucketKey(workload.namespace, label, value));
}

function bucketKey(namespace: string, label: string, value: string): string {
  return `${namespace}|${label}=${value}`;
}
