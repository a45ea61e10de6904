/**
 * The networks and their entrances, from the reports of all registries.
 *
 * @module
 */
import { samePlain } from "./content.ts";
import type { NetworkEntrance, Provider, RegistryNetworks } from "./types.ts";

interface NetworksReport {
  readonly clusterId: string;
  readonly known: RegistryNetworks;
}

/** The networks and their entrances, by registry. */
export class ReportedNetworks {
  readonly #reports = new Map<string, NetworksReport>();
  #gateways: readonly NetworkEntrance[] = [];
  readonly #listeners: (() => void)[] = [];

  /** Replaces everything that a registry has reported. */
  set({ provider, clusterId }: NetworkReporter, known: RegistryNetworks): void {
    const key = `${provider}/${clusterId}`;
    if (samePlain(this.#reports.get(key)?.known, known)) return;
    this.#reports.set(key, { clusterId, known });
    for (const listener of this.#listeners) listener();
  }

  /** Replaces the entrances that are objects of the configuration, and no services of a cluster. */
  setGateways(entrances: readonly NetworkEntrance[]): void {
    if (samePlain(this.#gateways, entrances)) return;
    this.#gateways = entrances;
    for (const listener of this.#listeners) listener();
  }

  /** Removes a registry's report. */
  remove({ provider, clusterId }: NetworkReporter): void {
    if (!this.#reports.delete(`${provider}/${clusterId}`)) return;
    for (const listener of this.#listeners) listener();
  }

  /** Calls a listener at each change. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** The entrances to networks with the known cluster of each, in the order of the registries. */
  entrances(): NetworkEntrance[] {
    const ofServices = [...this.#reports.values()].flatMap(({ clusterId, known }) =>
      known.entrances.map((entrance) => ({ ...entrance, clusterIds: [clusterId] }))
    );
    return [...ofServices, ...this.#gateways];
  }

  /** Network of a cluster's workloads without a network label; empty: the addresses decide. */
  networkOf(clusterId: string): string {
    const own = [...this.#reports.values()].filter((report) => report.clusterId === clusterId);
    return own.find(({ known }) => known.network !== "")?.known.network ?? "";
  }
}

/** The reporting registry, by its kind and cluster. */
interface NetworkReporter {
  readonly provider: Provider;
  readonly clusterId: string;
}
