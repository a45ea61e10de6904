/**
 * The networks of a pipeline: the network of an address, and the entrances of each network, from the mesh networks and
 * from registries.
 *
 * @module
 */
import type { MeshNetworks } from "../../config/mesh/types.ts";
import { entrancesByNetwork, networkLookup, writtenEntrances } from "../../mesh/networks.ts";
import { isIp } from "../../registry/address.ts";
import type { ReportedNetworks } from "../../registry/reported_networks.ts";
import type { NetworkEntrance } from "../../registry/types.ts";

/** Addresses of host names. */
export interface GatewayNames {
  /**
   * Follows the addresses of names. Other names are forgotten.
   *
   * @returns A function from a name to its known addresses. An unresolved name has no addresses.
   */
  follow(names: ReadonlySet<string>): (name: string) => readonly string[];
}

/** Used when host names are not resolved. */
const UNRESOLVED: GatewayNames = { follow: () => () => [] };

/** Which parts of the networks have changed. */
export interface ChangedNetworks {
  /** Workloads that name no network may have moved to another network. */
  readonly own: boolean;
  readonly entrances: boolean;
}

export class PipelineNetworks {
  readonly #reported: ReportedNetworks;
  readonly #clusterId: string;
  readonly #names: GatewayNames;
  #written: MeshNetworks;
  #lookup: (address: string) => string;
  #own = "";
  #entrances: ReadonlyMap<string, readonly NetworkEntrance[]> = new Map();
  #content = "[]";
  #named: readonly NetworkEntrance[] = [];

  constructor(reported: ReportedNetworks, clusterId: string, written: MeshNetworks, names = UNRESOLVED) {
    this.#reported = reported;
    this.#clusterId = clusterId;
    this.#names = names;
    this.#written = written;
    this.#lookup = networkLookup(written, clusterId);
    this.look();
  }

  /** The mesh networks in the mesh configuration. */
  get written(): MeshNetworks {
    return this.#written;
  }

  /** The ways into networks, by network. */
  get entrances(): ReadonlyMap<string, readonly NetworkEntrance[]> {
    return this.#entrances;
  }

  /** The entrances in mesh networks and registries, before names are resolved. */
  get named(): readonly NetworkEntrance[] {
    return this.#named;
  }

  /** The network of an address for which nothing else names a network; empty: the unnamed network. */
  networkOf(address: string): string {
    return this.#own || this.#lookup(address);
  }

  /** Takes other mesh networks. */
  use(written: MeshNetworks): ChangedNetworks {
    this.#written = written;
    this.#lookup = networkLookup(written, this.#clusterId);
    return { ...this.look(), own: true };
  }

  /** Looks again, because the facts of registries or the addresses of names have changed. */
  look(): ChangedNetworks {
    const before = this.#own;
    this.#own = this.#reported.networkOf(this.#clusterId);
    const all = this.#named = [...writtenEntrances(this.#written), ...this.#reported.entrances()];
    const addressesOf = this.#names.follow(
      new Set(all.map(({ address }) => address).filter((address) => !isIp(address))),
    );
    this.#entrances = entrancesByNetwork(all, addressesOf);
    const content = JSON.stringify([...this.#entrances]);
    const entrances = content !== this.#content;
    this.#content = content;
    return { own: before !== this.#own, entrances };
  }
}
