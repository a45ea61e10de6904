/**
 * The remote clusters of a server, as secrets name them now. The clusters are independent: a cluster that is away or
 * misconfigured keeps no other cluster waiting.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { LabelSelector } from "../../config/mesh/types.ts";
import type { RegistryCounts } from "../../registry/orch/counts.ts";
import type { CheckedCluster } from "../sources/self_check.ts";
import { type ClusterSync, RemoteCluster, type RemoteClusterParts } from "./cluster.ts";
import { type ClusterSecret, type LeftOutCluster, type WantedCluster, wantedClusters } from "./wanted.ts";

export interface RemoteClustersParts {
  /** Name of the server's own cluster. */
  readonly own: string;
  /** The inputs of a cluster without the listeners of its state. */
  readonly partsOf: (id: string) => Omit<RemoteClusterParts, "changed" | "timedOut">;
  /** The state of a cluster or its connection has changed. */
  readonly changed: (cluster: RemoteCluster) => void;
  /** A cluster is in no secret any more. */
  readonly gone: (cluster: RemoteCluster) => void;
  /** A cluster was not read in time. */
  readonly timedOut: (cluster: RemoteCluster) => void;
  /** Called when part of a secret becomes invalid. */
  readonly leftOut: (what: LeftOutCluster) => void;
}

/** A cluster on the debug pages. */
export interface ClusterState {
  readonly id: string;
  /** `namespace/name`; absent: the server's own cluster. */
  readonly secretName?: string;
  readonly syncStatus: ClusterSync;
  /** The present problem; absent: none. */
  readonly problem?: string;
}

export class RemoteClusters {
  readonly #parts: RemoteClustersParts;
  readonly #clusters = new Map<string, RemoteCluster>();
  readonly #leaving = new Set<Promise<void>>();
  #leftOut: readonly LeftOutCluster[] = [];

  constructor(parts: RemoteClustersParts) {
    this.#parts = parts;
  }

  take(secrets: Iterable<ClusterSecret>): void {
    const { wanted, leftOut } = wantedClusters(secrets, this.#parts.own);
    const before = new Set(this.#leftOut.map(keyOf));
    this.#leftOut = leftOut;
    for (const one of leftOut) if (!before.has(keyOf(one))) this.#parts.leftOut(one);
    for (const [id, cluster] of this.#clusters) if (!wanted.has(id)) this.#remove(cluster);
    for (const one of wanted.values()) (this.#clusters.get(one.id) ?? this.#add(one)).use(one);
  }

  #add(wanted: WantedCluster): RemoteCluster {
    const { partsOf, changed, timedOut } = this.#parts;
    const cluster = new RemoteCluster(wanted, { ...partsOf(wanted.id), changed, timedOut });
    this.#clusters.set(wanted.id, cluster);
    return cluster;
  }

  #remove(cluster: RemoteCluster): void {
    this.#clusters.delete(cluster.id);
    const leaving = cluster.stop().finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
    this.#parts.gone(cluster);
  }

  /** The cluster of a name; undefined: no secret names such a cluster. */
  get(id: string): RemoteCluster | undefined {
    return this.#clusters.get(id);
  }

  get size(): number {
    return this.#clusters.size;
  }

  values(): IterableIterator<RemoteCluster> {
    return this.#clusters.values();
  }

  /** Resolves when each present cluster has been read once, or is not waited for any more. */
  async settled(): Promise<void> {
    await Promise.all([...this.#clusters.values()].map(({ settled }) => settled));
  }

  /** The facts of the clusters, by name of the cluster. */
  factsByCluster(): Map<string, FactStore> {
    const read = [...this.#clusters].flatMap(([id, { facts }]) => facts === undefined ? [] : [[id, facts] as const]);
    return new Map(read);
  }

  /** The facts of the clusters. */
  *facts(): Generator<FactStore> {
    for (const { facts } of this.#clusters.values()) if (facts !== undefined) yield facts;
  }

  /** The clusters that have been read, for the regular check. */
  *checked(): Generator<CheckedCluster> {
    for (const cluster of this.#clusters.values()) {
      const checked = cluster.checked();
      if (checked !== undefined) yield checked;
    }
  }

  /** The counts of the clusters' registries. */
  *counts(): Generator<RegistryCounts> {
    for (const { registry } of this.#clusters.values()) yield registry.counts;
  }

  /** The clusters by name, and the invalid entries of secrets. */
  states(): ClusterState[] {
    const states = [...this.#clusters.values()].map(({ id, secret, sync, problem }): ClusterState => ({
      ...{ id, secretName: secret, syncStatus: sync },
      ...(problem === undefined ? {} : { problem }),
    }));
    const leftOut = this.#leftOut.map(({ id, secret, why }): ClusterState => ({
      ...{ id, secretName: secret, syncStatus: "closed", problem: why },
    }));
    return [...states, ...leftOut].sort((a, b) => orderOf(a) < orderOf(b) ? -1 : 1);
  }

  /** The mesh configuration or the networks have changed. */
  meshChanged(selectors: readonly LabelSelector[]): void {
    for (const cluster of this.#clusters.values()) {
      cluster.discover(selectors);
      cluster.registry.again();
    }
  }

  /** Ends all clusters. Their services leave the mesh. */
  async stop(): Promise<void> {
    await Promise.all([...this.#leaving, ...[...this.#clusters.values()].map((cluster) => cluster.stop())]);
    this.#clusters.clear();
  }
}

function keyOf({ id, secret, why }: LeftOutCluster): string {
  return JSON.stringify([id, secret, why]);
}

function orderOf({ id, secretName = "" }: ClusterState): string {
  return `${id} ${secretName}`;
}
