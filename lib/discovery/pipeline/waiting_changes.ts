/**
 * The changes since the mesh was last brought up to date.
 *
 * @module
 */
import type { AnyConfigObject } from "../../config/types.ts";
import type { MeshChange } from "../../mesh/mesh.ts";
import type { Aggregate, RegistrySource } from "../../registry/aggregate.ts";
import type { EndpointIndex } from "../../registry/endpoint_index.ts";
import type { ListedChange } from "./applied.ts";
import type { ServiceKey, Workload } from "../../registry/types.ts";

/** A change of the mesh, and the addresses of workloads whose own services have changed. */
export interface TakenChanges {
  readonly change: ListedChange;
  readonly addresses: ReadonlySet<string>;
}

/** Most items of a kind in one step. */
const ITEMS_A_STEP = 200;

/** Collects changes of configuration and of registries. */
export class WaitingChanges {
  readonly #aggregate: Aggregate;
  readonly #index: EndpointIndex;
  #removed = new Map<string, AnyConfigObject>();
  #added = new Map<string, AnyConfigObject>();
  #services: ReadonlySet<ServiceKey> = new Set();
  #endpoints: ReadonlySet<ServiceKey> = new Set();
  #addresses: ReadonlySet<string> = new Set();
  #tokenKeys = new Set<string>();
  #entrances: MeshChange["entrances"];
  #namespaces: MeshChange["namespaces"];
  #waypointAddresses: MeshChange["waypointAddresses"];
  #workloads = new Map<string, Workload | undefined>();

  constructor(aggregate: Aggregate, index: EndpointIndex) {
    this.#aggregate = aggregate;
    this.#index = index;
  }

  /** Notes old versions of removed or changed objects, new objects and new versions. */
  addConfig(removed: readonly AnyConfigObject[], added: readonly AnyConfigObject[]): void {
    for (const object of removed) {
      // An object that was added and removed since the last push was never seen.
      if (!this.#added.delete(object.key)) this.#removed.set(object.key, object);
    }
    for (const object of added) this.#added.set(object.key, object);
  }

  /** Notes changed keys of a token issuer. */
  addTokenKeys(place: string): void {
    this.#tokenKeys.add(place);
  }

  /** Notes the present ways into networks. */
  setEntrances(all: NonNullable<MeshChange["entrances"]>): void {
    this.#entrances = all;
  }

  /** Notes the present labels of namespaces. */
  setNamespaces(all: NonNullable<MeshChange["namespaces"]>): void {
    this.#namespaces = all;
  }

  /** Notes the present addresses of waypoints. */
  setWaypointAddresses(all: NonNullable<MeshChange["waypointAddresses"]>): void {
    this.#waypointAddresses = all;
  }

  /** Notes workloads that appeared or changed, and ids of workloads that went. */
  addWorkloads(
    { provider, clusterId }: RegistrySource,
    upserted: readonly Workload[],
    removed: readonly string[],
  ): void {
    for (const id of removed) this.#workloads.set(`${provider}/${clusterId}/${id}`, undefined);
    for (const workload of upserted) this.#workloads.set(`${provider}/${clusterId}/${workload.id}`, workload);
  }

  /** Settles the reports of registries since the last call; the more often, the less work at once. */
  settleRegistries(): void {
    const services = this.#aggregate.drain();
    const endpoints = this.#index.drain();
    this.#services = united(this.#services, services.services);
    this.#endpoints = united(this.#endpoints, endpoints.services);
    this.#addresses = united(united(this.#addresses, services.addresses), endpoints.addresses);
  }

  /** Takes all waiting changes out of the collection. */
  take(): TakenChanges {
    this.settleRegistries();
    const change = {
      removed: [...this.#removed.values()],
      added: [...this.#added.values()],
      services: this.#services,
      endpoints: this.#endpoints,
      tokenKeys: this.#tokenKeys,
      ...(this.#entrances === undefined ? {} : { entrances: this.#entrances }),
      ...(this.#namespaces === undefined ? {} : { namespaces: this.#namespaces }),
      ...(this.#waypointAddresses === undefined ? {} : { waypointAddresses: this.#waypointAddresses }),
      ...(this.#workloads.size === 0 ? {} : { workloads: this.#workloads }),
    };
    const addresses = this.#addresses;
    this.#removed = new Map();
    this.#added = new Map();
    this.#services = new Set();
    this.#endpoints = new Set();
    this.#addresses = new Set();
    this.#tokenKeys = new Set();
    this.#entrances = undefined;
    this.#namespaces = undefined;
    this.#waypointAddresses = undefined;
    this.#workloads = new Map();
    return { change, addresses };
  }
}

/**
 * The parts of a change. One after another, the parts have the same effect as the whole. Services come before the rules
 * for the services: the visibility of a rule depends on the owner of its service, and would otherwise be computed
 * twice.
 */
export function* changeParts(change: MeshChange): Generator<MeshChange> {
  const { removed, added, services, endpoints, entrances, namespaces, waypointAddresses, workloads } = change;
  if (namespaces !== undefined) yield { namespaces };
  if (waypointAddresses !== undefined) yield { waypointAddresses };
  if (entrances !== undefined) yield { entrances };
  for (const part of parts(removed)) yield { removed: part };
  for (const part of parts(services)) yield { services: part };
  for (const part of parts(added)) yield { added: part };
  for (const part of parts(workloads)) yield { workloads: part };
  for (const part of parts(endpoints)) yield { endpoints: part };
}

function* parts<T>(items: Iterable<T> = []): Generator<T[]> {
  let part: T[] = [];
  for (const item of items) {
    part.push(item);
    if (part.length < ITEMS_A_STEP) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

/** The union of two sets. May return or change one of the sets, because one of them is mostly empty. */
function united<T>(before: ReadonlySet<T>, more: ReadonlySet<T>): ReadonlySet<T> {
  if (before.size === 0) return more;
  for (const item of more) (before as Set<T>).add(item);
  return before;
}
