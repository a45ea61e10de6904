/**
 * Addresses by the names and addresses by which tunnels ask, for tunnels that ask for single addresses.
 *
 * @module
 */
import type { istio } from "../../proto/gen/types.ts";
import { decode } from "../pb/reflect.ts";
import { SmallMultimap } from "../registry/small_multimap.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import type { Diff } from "../resource/diff.ts";
import type { ResourceSet } from "../resource/set.ts";
import { GATEWAY_NAME } from "./addresses.ts";

/** The places of a resource in the directory. */
interface AddressPlaces {
  readonly aliases: readonly string[];
  /** Names of the services of a workload. */
  readonly services: readonly string[];
  /** Empty: none. */
  readonly node: string;
}

/** The directory of a set. A change of the set costs the changed resources. */
export class AddressDirectory {
  #set: ResourceSet;
  readonly #between: (from: ResourceSet, to: ResourceSet) => Pick<Diff, "changed" | "removed">;
  readonly #places = new Map<string, AddressPlaces>();
  readonly #named = new SmallMultimap<string, string>();
  readonly #workloadsOf = new SmallMultimap<string, string>();
  readonly #workloadsOn = new SmallMultimap<string, string>();
  /** Names of gateways into other networks. */
  readonly #gateways = new Set<string>();

  /** @param empty the set without resources @param between the difference of two sets */
  constructor(
    empty: ResourceSet,
    between: (from: ResourceSet, to: ResourceSet) => Pick<Diff, "changed" | "removed">,
  ) {
    this.#set = empty;
    this.#between = between;
  }

  /** Takes the present set. */
  update(set: ResourceSet): void {
    if (set === this.#set) return;
    const { changed, removed } = this.#between(this.#set, set);
    for (const name of removed) this.#remove(name);
    for (const resource of changed) {
      this.#remove(resource.name);
      this.#add(resource);
    }
    this.#set = set;
  }

  /**
   * The resources that a tunnel needs: those of the names, by name or alias; of services also their workloads; the
   * workloads of the tunnel's own node, and the gateways into other networks, which the tunnel never asks for.
   */
  chosen(names: Iterable<string>, node: string): Iterable<EncodedResource> {
    const found = new Set([...this.#gateways, ...node === "" ? [] : this.#workloadsOn.get(node)]);
    for (const asked of names) {
      const resources = this.#places.has(asked) ? [asked] : this.#named.get(asked);
      for (const name of resources) {
        found.add(name);
        for (const workload of this.#workloadsOf.get(name)) found.add(workload);
      }
    }
    return [...found].flatMap((name) => this.#set.get(name) ?? []);
  }

  #add(resource: EncodedResource): void {
    const { name, aliases, value } = resource;
    const { workload } = decode<istio.workload.Address>("istio.workload.Address", value);
    const places = { aliases, services: Object.keys(workload?.services ?? {}), node: workload?.node ?? "" };
    this.#places.set(name, places);
    this.#index(name, places, "add");
  }

  #remove(name: string): void {
    const places = this.#places.get(name);
    if (places === undefined) return;
    this.#places.delete(name);
    this.#index(name, places, "delete");
  }

  #index(name: string, { aliases, services, node }: AddressPlaces, place: "add" | "delete"): void {
    if (name.startsWith(GATEWAY_NAME)) this.#gateways[place](name);
    for (const alias of aliases) this.#named[place](alias, name);
    for (const service of services) this.#workloadsOf[place](service, name);
    if (node !== "") this.#workloadsOn[place](node, name);
  }
}
