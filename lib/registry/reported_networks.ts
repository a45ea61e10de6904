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

export class ReportedNetworks {
  readonly #reports = new Map<string, NetworksReport>();
  readonly #listeners: (() => void)[] = [];

  /** Takes a registry's whole knowledge. */
  set({ provider, clusterId }: NetworkReporter, known: RegistryNetworks): void {
    const key = `${provider}/${clusterId}`;
    if (samePlain(this.#reports.get(key)?.known, known)) return;
    this.#reports.set(key, { clusterId, known });
    for (const listener of this.#listeners) listener();
  }

  /** Forgets a registry. */
  remove({ provider, clusterId }: NetworkReporter): void {
    if (!this.#reports.delete(`${provider}/${clusterId}`)) return;
    for (const listener of this.#listeners) listener();
  }

  /** Has a listener called with each change. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** The entrances to networks with the cluster of each, in the order of the registries. */
  entrances(): NetworkEntrance[] {
    return [...this.#reports.values()].flatMap(({ clusterId, known }) =>
      known.entrances.map((entrance) => ({ ...entrance, clusterIds: [clusterId] }))
    );
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
