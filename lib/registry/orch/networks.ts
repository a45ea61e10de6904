/**
 * The networks known to the registry of the orchestrator's objects: the network of its cluster, and the entrances among
 * its services.
 *
 * @module
 */
import { samePlain } from "../content.ts";
import type { NetworkEntrance, RegistryNetworks } from "../types.ts";
import type { RegistryObjects } from "./objects.ts";

export class KnownNetworks {
  readonly #objects: Pick<RegistryObjects, "network" | "entrances">;
  /** By service. Services without entrances are absent. */
  readonly #entrances = new Map<string, readonly NetworkEntrance[]>();
  #known: RegistryNetworks = { network: "", entrances: [] };

  constructor(objects: Pick<RegistryObjects, "network" | "entrances">) {
    this.#objects = objects;
  }

  /** The same object until a change. */
  get known(): RegistryNetworks {
    return this.#known;
  }

  /** Looks at these services, and at the cluster's own network. @returns whether something changed */
  look(services: Iterable<string>): boolean {
    let changed = this.#objects.network !== this.#known.network;
    for (const id of services) {
      const [before = [], now] = [this.#entrances.get(id), this.#objects.entrances(id)];
      if (samePlain(before, now)) continue;
      changed = true;
      if (now.length === 0) this.#entrances.delete(id);
      else this.#entrances.set(id, now);
    }
    if (!changed) return false;
    const entrances = [...this.#entrances].toSorted(([a], [b]) => a < b ? -1 : 1).flatMap(([, one]) => one);
    this.#known = { network: this.#objects.network, entrances };
    return true;
  }
}
