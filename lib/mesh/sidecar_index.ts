/**
 * Sidecar objects, and which of them a workload gets.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";

type Sidecar = ConfigObject<"Sidecar">;

/** All Sidecar objects of the mesh. */
export class SidecarIndex {
  #byNamespace = new Map<string, Sidecar[]>();
  #rootNamespace: string;

  constructor(rootNamespace: string) {
    this.#rootNamespace = rootNamespace;
  }

  /** Replaces some by others; tells in which namespaces workloads may now get another one (`*`: everywhere). */
  update(removed: Iterable<Sidecar>, added: Iterable<Sidecar>): Set<string> {
    const touched = new Set<string>();
    const change = (sidecar: Sidecar, put: boolean) => {
      const { namespace } = sidecar.meta;
      const rest = (this.#byNamespace.get(namespace) ?? []).filter((x) => x.key !== sidecar.key);
      if (put) rest.push(sidecar);
      rest.sort((a, b) => a.meta.creationTimestamp - b.meta.creationTimestamp || (a.key < b.key ? -1 : 1));
      if (rest.length > 0) this.#byNamespace.set(namespace, rest);
      else this.#byNamespace.delete(namespace);
      touched.add(namespace === this.#rootNamespace ? "*" : namespace);
    };
    for (const sidecar of removed) change(sidecar, false);
    for (const sidecar of added) change(sidecar, true);
    return touched;
  }

  /**
   * The Sidecar of a workload: in its namespace the oldest that selects it by labels, else the oldest without a
   * selector, else the one without a selector in the root namespace.
   */
  select(namespace: string, labels: Readonly<Record<string, string>>): Sidecar | undefined {
    const own = this.#byNamespace.get(namespace) ?? [];
    const byLabels = own.find((s) => hasSelector(s) && selects(s, labels));
    if (byLabels) return byLabels;
    const ofNamespace = own.find((s) => !hasSelector(s));
    if (ofNamespace || namespace === this.#rootNamespace) return ofNamespace;
    return this.#byNamespace.get(this.#rootNamespace)?.find((s) => !hasSelector(s));
  }
}

function hasSelector(sidecar: Sidecar): boolean {
  return Object.keys(sidecar.spec.workloadSelector?.labels ?? {}).length > 0;
}

function selects(sidecar: Sidecar, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(sidecar.spec.workloadSelector?.labels ?? {}).every(([k, v]) => labels[k] === v);
}
