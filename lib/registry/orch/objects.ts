/**
 * The orchestrator's objects in the registry, and the objects affected by a change.
 *
 * @module
 */
import type { EndpointSubsetData, Fact } from "../../config/facts/types.ts";
import { canonicalIp } from "../address.ts";
import { NETWORK_LABEL } from "../labels.ts";
import type { StandInAddresses } from "../allocation/stand_ins.ts";
import { SmallMultimap } from "../small_multimap.ts";
import type { OrchRegistryOptions, RegistryFact, RegistryKind } from "./options.ts";
import type { NetworkEntrance } from "../types.ts";
import { entrancesOf, needsNodes } from "./entrances.ts";
import { convertPod, type OrchPod } from "./pod.ts";
import { convertService, hostnameOf, type OrchService } from "./service.ts";
import { needsStandIn, writtenAddresses } from "./stand_in.ts";

/** Objects affected by a change, to be built again. */
export interface AffectedObjects {
  /** `namespace/name` of services whose own fields may have changed. */
  readonly services: Set<string>;
  /** Pods whose fields may have changed, as `namespace/name`. */
  readonly pods: Set<string>;
  /** Keys of lists of endpoints. */
  readonly lists: Set<string>;
  /** `namespace/name` of services whose entrances to networks may have changed. */
  readonly entrances: Set<string>;
}

/** A list of endpoints: a slice, or an object of kind Endpoints. */
export interface EndpointListObject {
  readonly key: string;
  /** `namespace/name` of the list's service. */
  readonly service: string;
  /** Whether the list counts only if its service has no slice. */
  readonly fallback: boolean;
  /** `IPv4`, `IPv6`, or empty: addresses of both families. */
  readonly family: string;
  readonly subsets: readonly EndpointSubsetData[];
}

/** Slices with this label are copies from another cluster. */
const IMPORTED_LABEL = "multicluster.kubernetes.io/service-name";

/** The objects of the registry. Objects are converted when they are asked for. */
export class RegistryObjects {
  readonly #options: OrchRegistryOptions;
  readonly #standIns: StandInAddresses;
  readonly #facts: { readonly [K in RegistryKind]: Map<string, Fact<K>> } = {
    Namespace: new Map(),
    Node: new Map(),
    Service: new Map(),
    EndpointSlice: new Map(),
    Endpoints: new Map(),
    Pod: new Map(),
    ServiceExport: new Map(),
    ServiceImport: new Map(),
  };
  readonly #servicesIn = new SmallMultimap<string, string>();
  /** Services that clients reach by addresses of nodes. */
  readonly #servicesOnNodes = new Set<string>();
  readonly #podsOn = new SmallMultimap<string, string>();
  readonly #lists = new Map<string, EndpointListObject>();
  readonly #listsOf = new SmallMultimap<string, string>();
  /** Lists that name a pod, whether the pod exists or not. */
  readonly #listsWith = new SmallMultimap<string, string>();
  /** Lists that name a node but no pod on the node. */
  readonly #listsOn = new SmallMultimap<string, string>();
  /** Lists with an address without the name of its pod. */
  readonly #listsAt = new SmallMultimap<string, string>();

  constructor(options: OrchRegistryOptions, standIns: StandInAddresses) {
    this.#options = options;
    this.#standIns = standIns;
  }

  /**
   * Takes a new object, or a new version, and notes the affected objects. @returns whether the object was there before
   */
  put(fact: RegistryFact, affected: AffectedObjects): boolean {
    const old = this.#take(fact.kind, idOf(fact), affected);
    // The map of a kind holds only objects of this kind. The compiler cannot follow the rule for a kind unknown at
    // compile time.
    (this.#facts[fact.kind] as Map<string, RegistryFact>).set(idOf(fact), fact);
    this.#index(fact, true);
    this.#touch(fact, old, affected);
    return old !== undefined;
  }

  /** Whether the registry has this very version of an object. */
  has(fact: RegistryFact): boolean {
    return this.#facts[fact.kind].get(idOf(fact)) === fact;
  }

  /** Keys of all objects of a kind. */
  *keys(kind: RegistryKind): Generator<string> {
    for (const { key } of this.#facts[kind].values()) yield key;
  }

  /** Removes an object by its key. @returns the object's kind; undefined: the object was not there */
  remove(key: string, affected: AffectedObjects): RegistryKind | undefined {
    const old = this.#remove(key, affected);
    if (old !== undefined) this.#touch(undefined, old, affected);
    return old?.kind;
  }

  /** Everything is to be made again. */
  touchAll({ services, pods, lists, entrances }: AffectedObjects): void {
    for (const id of this.#facts.Service.keys()) {
      services.add(id);
      entrances.add(id);
    }
    for (const id of this.#facts.ServiceImport.keys()) services.add(id);
    for (const id of this.#facts.Pod.keys()) pods.add(id);
    for (const key of this.#lists.keys()) lists.add(key);
  }

  /** A service, converted. */
  service(id: string): OrchService | undefined {
    const fact = this.#facts.Service.get(id);
    const home = fact && this.#facts.Namespace.get(fact.meta.namespace);
    return fact &&
      convertService(fact, home, this.#options, needsStandIn(fact) ? this.#standIns.addresses(id) : undefined);
  }

  /** Whether a service is exported from its cluster. */
  exported(id: string): boolean {
    return this.#facts.ServiceExport.has(id);
  }

  /** The import of a service into its cluster. */
  imported(id: string): Fact<"ServiceImport"> | undefined {
    return this.#facts.ServiceImport.get(id);
  }

  /** `namespace/name` of all exported and imported services. */
  *shared(): Generator<string> {
    yield* this.#facts.ServiceExport.keys();
    for (const id of this.#facts.ServiceImport.keys()) if (!this.exported(id)) yield id;
  }

  /** A pod, converted; undefined: unknown, or ended. */
  pod(id: string): OrchPod | undefined {
    const fact = this.#facts.Pod.get(id);
    return fact && convertPod(fact, this.node(fact.spec.running?.nodeName), this.network, this.#options);
  }

  node(name: string | undefined): Fact<"Node"> | undefined {
    return name === undefined ? undefined : this.#facts.Node.get(name);
  }

  /** Network of workloads without a network label, from the system namespace's label; empty: by address. */
  get network(): string {
    return this.#facts.Namespace.get(this.#options.systemNamespace)?.meta.labels[NETWORK_LABEL] ?? "";
  }

  /** The entrances to networks that a service provides. */
  entrances(id: string): readonly NetworkEntrance[] {
    const fact = this.#facts.Service.get(id);
    if (fact === undefined) return [];
    const named = this.#options.namedGateways(hostnameOf(fact, this.#options));
    return entrancesOf(fact, named, () => this.#facts.Node.values());
  }

  list(key: string): EndpointListObject | undefined {
    return this.#lists.get(key);
  }

  /** The lists that count for a service, by key. */
  listsOf(service: string): EndpointListObject[] {
    const all = this.#listsOf.get(service).toSorted().map((key) => this.#lists.get(key)!);
    const slices = all.filter(({ fallback }) => !fallback);
    return slices.length > 0 ? slices : all;
  }

  /** Keys of all lists of a service, including lists that do not count. */
  listKeysOf(service: string): readonly string[] {
    return this.#listsOf.get(service);
  }

  /** Keys of the lists that name a pod. */
  listsWith(pod: string): readonly string[] {
    return this.#listsWith.get(pod);
  }

  /** Keys of the lists with an address without the name of its pod. */
  listsAt(address: string): readonly string[] {
    return this.#listsAt.get(address);
  }

  #remove(key: string, affected: AffectedObjects): RegistryFact | undefined {
    const [kind = "", namespace = "", name = ""] = key.split("/");
    if (!Object.hasOwn(this.#facts, kind)) return undefined;
    return this.#take(kind as RegistryKind, namespace === "" ? name : `${namespace}/${name}`, affected);
  }

  #take(kind: RegistryKind, id: string, affected: AffectedObjects): RegistryFact | undefined {
    const facts: Map<string, RegistryFact> = this.#facts[kind] as Map<string, RegistryFact>;
    const old = facts.get(id);
    if (old === undefined) return undefined;
    facts.delete(id);
    const list = this.#lists.get(old.key);
    if (list !== undefined) {
      affected.lists.add(old.key);
      affected.services.add(list.service);
    }
    this.#index(old, false);
    return old;
  }

  #index(fact: RegistryFact, present: boolean): void {
    const place = present ? "add" : "delete";
    if (fact.kind === "Service") {
      this.#servicesIn[place](fact.meta.namespace, idOf(fact));
      if (needsNodes(fact)) this.#servicesOnNodes[place](idOf(fact));
      if (needsStandIn(fact)) this.#standIns[present ? "want" : "unwant"](idOf(fact));
    }
    this.#standIns[present ? "take" : "giveBack"](addressesIn(fact));
    if (fact.kind === "Pod" && fact.spec.running?.nodeName) this.#podsOn[place](fact.spec.running.nodeName, idOf(fact));
    const list = listOf(fact);
    if (list === undefined) return;
    if (present) this.#lists.set(list.key, list);
    else this.#lists.delete(list.key);
    this.#listsOf[place](list.service, list.key);
    for (const { endpoints } of list.subsets) {
      for (const { pod, addresses, nodeName } of endpoints) {
        if (pod !== undefined) this.#listsWith[place](`${fact.meta.namespace}/${pod}`, list.key);
        else {
          if (nodeName !== undefined) this.#listsOn[place](nodeName, list.key);
          for (const address of addresses) this.#listsAt[place](canonicalIp(address), list.key);
        }
      }
    }
  }

  #touch(now: RegistryFact | undefined, old: RegistryFact | undefined, affected: AffectedObjects): void {
    const fact = now ?? old!;
    switch (fact.kind) {
      case "Namespace": {
        const { name } = fact.meta;
        for (const id of this.#servicesIn.get(name)) affected.services.add(id);
        if (name === this.#options.systemNamespace) {
          const network = (one: RegistryFact | undefined) => one?.meta.labels[NETWORK_LABEL];
          if (network(now) !== network(old)) this.touchAll(affected);
        }
        return;
      }
      case "Node":
        for (const id of this.#servicesOnNodes) affected.entrances.add(id);
        for (const id of this.#podsOn.get(fact.meta.name)) affected.pods.add(id);
        for (const key of this.#listsOn.get(fact.meta.name)) affected.lists.add(key);
        return;
      case "ServiceExport":
      case "ServiceImport":
        return void affected.services.add(idOf(fact));
      case "Service":
        affected.entrances.add(idOf(fact));
        return void affected.services.add(idOf(fact));
      case "Pod":
        return void affected.pods.add(idOf(fact));
      default: {
        const list = this.#lists.get(fact.key);
        if (list === undefined) return;
        affected.lists.add(list.key);
      }
    }
  }
}

/** Addresses that an object's services and endpoints have. These addresses may not stand in for other services. */
function addressesIn(fact: RegistryFact): readonly string[] {
  switch (fact.kind) {
    case "Service":
      return writtenAddresses(fact.spec);
    case "ServiceImport":
      return fact.spec.ips;
    case "EndpointSlice":
      return fact.spec.endpoints.flatMap(({ addresses }) => addresses);
    case "Endpoints":
      return fact.spec.subsets.flatMap(({ endpoints }) => endpoints.flatMap(({ addresses }) => addresses));
    default:
      return [];
  }
}

/** `namespace/name`, or the name of an object without a namespace. */
function idOf({ meta: { namespace, name } }: RegistryFact): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

function listOf(fact: RegistryFact): EndpointListObject | undefined {
  const { key, meta: { namespace, name, labels } } = fact;
  if (fact.kind === "Endpoints") {
    return { key, service: `${namespace}/${name}`, fallback: true, family: "", subsets: fact.spec.subsets };
  }
  if (fact.kind !== "EndpointSlice") return undefined;
  const { service, addressType, endpoints, ports } = fact.spec;
  // Host names are not addresses; lists of other clusters come another way.
  if (service === "" || addressType === "FQDN" || Object.hasOwn(labels, IMPORTED_LABEL)) return undefined;
  const subsets = [{ endpoints, ports }];
  return { key, service: `${namespace}/${service}`, fallback: false, family: addressType, subsets };
}
