/**
 * The workloads of one namespace, found by labels of their pods.
 *
 * @module
 */
import type { WorkloadFact } from "./view.ts";

/** Immutable. The index of labels is made on first use. */
export class WorkloadIndex {
  /** All workloads, by key. */
  readonly all: readonly WorkloadFact[];
  #byLabel: ReadonlyMap<string, readonly WorkloadFact[]> | undefined;

  /** @param all Workloads of one namespace in any order. */
  constructor(all: readonly WorkloadFact[]) {
    this.all = all.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Workloads whose pods have all these labels; without labels: all workloads. */
  withLabels(labels: Readonly<Record<string, string>>): readonly WorkloadFact[] {
    const wanted = Object.entries(labels);
    let rarest = this.all;
    this.#byLabel ??= byLabel(this.all);
    for (const [key, value] of wanted) {
      const having = this.#byLabel.get(`${key}=${value}`) ?? [];
      if (having.length < rarest.length) rarest = having;
    }
    return rarest.filter(({ spec }) => wanted.every(([key, value]) => spec.labels[key] === value));
  }
}

function byLabel(workloads: readonly WorkloadFact[]): Map<string, WorkloadFact[]> {
  const found = new Map<string, WorkloadFact[]>();
  for (const workload of workloads) {
    for (const [key, value] of Object.entries(workload.spec.labels)) {
      const label = `${key}=${value}`;
      const there = found.get(label);
      if (there === undefined) found.set(label, [workload]);
      else there.push(workload);
    }
  }
  return found;
}
