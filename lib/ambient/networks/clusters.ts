/**
 * The resources of tunnels from several clusters (`AMBIENT_ENABLE_MULTI_NETWORK`): an index for each cluster, and the
 * view of all of them from the server's own network.
 *
 *     own cluster ────> index ─┐
 *     remote cluster ─> index ─┼─changes─> horizon ─> resources
 *     Gateways ────────────────┘
 *
 * A change costs its own cluster's part, and the services and workloads that it concerns.
 *
 * @module
 */
import type { AnyFact } from "../../config/facts/types.ts";
import type { AnyConfigObject } from "../../config/types.ts";
import type { AddressResource } from "../addresses.ts";
import { type AddressChanges, AmbientIndex, type TunnelIndex } from "../index.ts";
import type { AmbientSettings } from "../parts.ts";
import { GatewayTable } from "./gateway_table.ts";
import { Horizon } from "./horizon.ts";

/** The index of one cluster, or with several networks the index of all clusters. */
export function tunnelIndex(settings: AmbientSettings): AmbientIndex | AmbientClusters {
  return settings.isGlobal === undefined ? new AmbientIndex(settings) : new AmbientClusters(settings);
}

/** The index of all clusters. All calls are synchronous. */
export class AmbientClusters implements TunnelIndex {
  readonly #settings: AmbientSettings;
  readonly #own: AmbientIndex;
  readonly #remote = new Map<string, AmbientIndex>();
  readonly #gateways: GatewayTable;
  readonly #horizon: Horizon;
  /** The network of the own cluster, as the horizon has it. */
  #network = "";

  constructor(settings: AmbientSettings) {
    this.#settings = settings;
    this.#own = new AmbientIndex(settings);
    this.#gateways = new GatewayTable(settings.clusterId, settings.domain, settings.systemNamespace);
    this.#horizon = new Horizon({
      own: settings.clusterId,
      network: () => this.#network,
      trustDomain: settings.trustDomain,
      failed: settings.failed,
    });
  }

  /** Network of the own cluster; empty: the default network. */
  get network(): string {
    return this.#own.network;
  }

  get dirty(): number {
    let dirty = this.#own.dirty + this.#horizon.dirty + (this.#own.network === this.#network ? 0 : 1);
    for (const index of this.#remote.values()) dirty += index.dirty;
    return dirty;
  }

  /** @param cluster Absent: the own cluster. */
  put(object: AnyFact | AnyConfigObject, cluster = this.#settings.clusterId): void {
    this.#indexOf(cluster).put(object);
    if (object.kind !== "ApiGateway" && object.kind !== "GatewayClass") return;
    if (this.#gateways.put(cluster, object)) this.#gatewaysChanged();
  }

  /** @param cluster Absent: the own cluster. */
  remove(key: string, cluster = this.#settings.clusterId): void {
    this.#indexOf(cluster).remove(key);
    if (this.#gateways.remove(cluster, key)) this.#gatewaysChanged();
  }

  /** Forgets a remote cluster. */
  drop(cluster: string): void {
    if (!this.#remote.delete(cluster)) return;
    this.#horizon.drop(cluster);
    if (this.#gateways.drop(cluster)) this.#gatewaysChanged();
  }

  reassigned(entry: string): void {
    this.#own.reassigned(entry);
  }

  policiesChanged(namespace: string | undefined): void {
    for (const index of this.#all()) index.policiesChanged(namespace);
  }

  touchAll(): void {
    for (const index of this.#all()) index.touchAll();
    this.#horizon.touchAll();
  }

  *settle(): Generator<void, AddressChanges> {
    if (this.#own.network !== this.#network) {
      this.#network = this.#own.network;
      this.touchAll();
    }
    const made: AddressResource[] = [];
    const gone: string[] = [];
    const note = (changes: AddressChanges) => {
      made.push(...changes.made);
      gone.push(...changes.gone);
    };
    for (const [cluster, index] of [[this.#settings.clusterId, this.#own] as const, ...this.#remote]) {
      const changes = yield* index.settle();
      // The cluster may have left between the steps.
      if (index === this.#own || this.#remote.get(cluster) === index) note(this.#horizon.take(cluster, changes));
    }
    note(yield* this.#horizon.settle());
    return { made, gone };
  }

  /** At once: the number of dirty parts decides whether they are made in steps. */
  #gatewaysChanged(): void {
    this.#horizon.setGateways(this.#gateways.all());
  }

  #indexOf(cluster: string): AmbientIndex {
    if (cluster === this.#settings.clusterId) return this.#own;
    // Addresses are assigned only to entries of the own configuration.
    const settings = { ...this.#settings, clusterId: cluster, assigned: () => [] };
    return this.#remote.getOrInsertComputed(cluster, () => new AmbientIndex(settings));
  }

  *#all(): Generator<AmbientIndex> {
    yield this.#own;
    yield* this.#remote.values();
  }
}
