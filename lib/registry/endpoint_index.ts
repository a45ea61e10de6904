/**
 * All endpoints of all services: written thousands of times a second, read only after changes.
 *
 *     registries ──set(service, shard, list)──> shards + dirty mark        (a map write; nothing is compared)
 *                                                   │
 *     drain(), endpoints(), byAddress() ────────────┴──> settle: merge, compare by content, publish, mark changed
 *
 * A service whose endpoints flapped and returned to the published endpoints has not changed.
 *
 * @module
 */
import { SmallMultimap } from "./small_multimap.ts";
import { sameEndpoint, sameEndpoints } from "./content.ts";
import type { Endpoint, ServiceKey } from "./types.ts";

/** An endpoint of a service, found by the endpoint's address. */
export interface EndpointPlacement {
  readonly service: ServiceKey;
  readonly endpoint: Endpoint;
}

/** Changes between two calls of `drain`. */
export interface EndpointChanges {
  /** Services with changed endpoints. */
  readonly services: ReadonlySet<ServiceKey>;
  /** Addresses at which endpoints appeared, changed or went: proxies there serve different services. */
  readonly addresses: ReadonlySet<string>;
}

const NONE: readonly Endpoint[] = Object.freeze([]);
const NOWHERE: readonly EndpointPlacement[] = Object.freeze([]);

/** The list of a service's only shard. */
interface LoneShard {
  readonly name: string;
  endpoints: readonly Endpoint[];
}

/** The lists of a service by shard. A single list, the usual case, needs no map. */
type Shards = Map<string, readonly Endpoint[]> | LoneShard;

/** The endpoint index. Not shared between threads; all calls are synchronous. */
export class EndpointIndex {
  /** The last reports of the registries: the list of each shard (`provider/cluster`) by service. */
  readonly #shards = new Map<ServiceKey, Shards>();
  /** The published endpoints. The list of a service keeps its identity until its content changes. */
  readonly #published = new Map<ServiceKey, readonly Endpoint[]>();
  /** The services with an endpoint at an address. */
  readonly #byAddress = new SmallMultimap<string, ServiceKey>();
  readonly #dirty = new Set<ServiceKey>();
  #changed = new Set<ServiceKey>();
  #touched = new Set<string>();

  /**
   * Replaces a shard's list of a service's endpoints; an empty list removes the shard. The index keeps the list: never
   * change the list afterwards.
   */
  set(service: ServiceKey, shard: string, endpoints: readonly Endpoint[]): void {
    const shards = this.#shards.get(service);
    if (shards === undefined) {
      if (endpoints.length === 0) return;
      this.#shards.set(service, { name: shard, endpoints });
    } else if (listOf(shards, shard) === endpoints) return;
    else if (!(shards instanceof Map) && shards.name === shard) {
      // Never a new object for each report: V8 allocates such objects among old objects, because the objects of the
      // first reports live long. A dead object there keeps its list and the endpoints of the list until a full
      // collection.
      if (endpoints.length > 0) shards.endpoints = endpoints;
      else this.#shards.delete(service);
    } else {
      const several = shards instanceof Map ? shards : new Map([[shards.name, shards.endpoints]]);
      if (endpoints.length > 0) several.set(shard, endpoints);
      else if (!several.delete(shard)) return;
      if (several.size > 0) this.#shards.set(service, several);
      else this.#shards.delete(service);
    }
    this.#dirty.add(service);
  }

  /** Removes a shard from every service after the end of its cluster or registry. Costs a walk over all services. */
  removeShard(shard: string): void {
    for (const [service, shards] of this.#shards) if (listOf(shards, shard).length > 0) this.set(service, shard, NONE);
  }

  /**
   * All endpoints of a service: shards by name, each in its registry's order. The same array until the content changes.
   */
  endpoints(service: ServiceKey): readonly Endpoint[] {
    if (this.#dirty.has(service)) this.#settle(service);
    return this.#published.get(service) ?? NONE;
  }

  /**
   * The endpoints at an address (canonical spelling, see `canonicalIp`). A proxy at the address serves their services.
   * Ordered by service; several endpoints of one service are in no particular order.
   */
  byAddress(address: string): readonly EndpointPlacement[] {
    this.#settleAll();
    const services = this.#byAddress.get(address);
    return services.length === 0
      ? NOWHERE
      : [...services].sort().flatMap((service) =>
        this.endpoints(service).filter((endpoint) => endpoint.address === address)
          .map((endpoint) => ({ service, endpoint }))
      );
  }

  /** Returns the changes of content since the last call, and forgets the returned changes. */
  drain(): EndpointChanges {
    this.#settleAll();
    const changes = { services: this.#changed, addresses: this.#touched };
    this.#changed = new Set();
    this.#touched = new Set();
    return changes;
  }

  /** Whether `drain` may have something to report; cheap. */
  get pending(): boolean {
    return this.#dirty.size > 0 || this.#changed.size > 0;
  }

  /** Services with endpoints, and their endpoints; for debug pages. */
  *entries(): IterableIterator<[ServiceKey, readonly Endpoint[]]> {
    this.#settleAll();
    yield* this.#published;
  }

  /** The shards of a service by name, as last reported by their registries; for debug pages. */
  shards(service: ServiceKey): ReadonlyMap<string, readonly Endpoint[]> {
    const shards = this.#shards.get(service);
    if (shards instanceof Map) return shards;
    return new Map(shards === undefined ? [] : [[shards.name, shards.endpoints]]);
  }

  #settleAll(): void {
    for (const service of this.#dirty) this.#settle(service);
  }

  #settle(service: ServiceKey): void {
    this.#dirty.delete(service);
    const before = this.#published.get(service) ?? NONE;
    const reported = merged(this.#shards.get(service));
    if (sameEndpoints(before, reported)) return;
    const { list, gone, fresh } = before === NONE
      ? { list: reported, gone: NONE, fresh: reported }
      : compare(before, reported);
    if (list.length === 0) this.#published.delete(service);
    else this.#published.set(service, list);
    this.#changed.add(service);
    for (const { address } of fresh) this.#setPlace(address, service, true);
    if (gone.length === 0) return;
    const left = new Set(list.map(({ address }) => address));
    for (const { address } of gone) this.#setPlace(address, service, left.has(address));
  }

  #setPlace(address: string, service: ServiceKey, present: boolean): void {
    if (present) this.#byAddress.add(address, service);
    else this.#byAddress.delete(address, service);
    this.#touched.add(address);
  }
}

function listOf(shards: Shards, shard: string): readonly Endpoint[] {
  if (shards instanceof Map) return shards.get(shard) ?? NONE;
  return shards.name === shard ? shards.endpoints : NONE;
}

function merged(shards: Shards | undefined): readonly Endpoint[] {
  if (shards === undefined) return NONE;
  if (!(shards instanceof Map)) return shards.endpoints;
  return [...shards.keys()].sort().flatMap((name) => shards.get(name)!);
}

/** The difference between an old and a new list of endpoints. */
interface Difference {
  /**
   * The new list, with the old object of each unchanged endpoint, so that the encoded form of the object can be reused.
   */
  readonly list: readonly Endpoint[];
  readonly gone: readonly Endpoint[];
  readonly fresh: readonly Endpoint[];
}

/**
 * Most lists change in a single place, so endpoints are compared by position first. Only moved endpoints are searched
 * for.
 */
function compare(before: readonly Endpoint[], after: readonly Endpoint[]): Difference {
  const list: Endpoint[] = [...after];
  const moved: number[] = [];
  const left = new Map<string, Endpoint[]>();
  for (let i = 0; i < Math.max(before.length, after.length); i++) {
    const [old, now] = [before[i], after[i]];
    if (old !== undefined && now !== undefined && sameEndpoint(old, now)) {
      list[i] = old;
      continue;
    }
    if (now !== undefined) moved.push(i);
    if (old === undefined) continue;
    const same = left.get(identity(old));
    if (same) same.push(old);
    else left.set(identity(old), [old]);
  }
  const fresh: Endpoint[] = [];
  for (const i of moved) {
    const candidates = left.get(identity(list[i]!)) ?? [];
    const at = candidates.findIndex((old) => sameEndpoint(old, list[i]!));
    if (at >= 0) list[i] = candidates.splice(at, 1)[0]!;
    else fresh.push(list[i]!);
  }
  return { list, gone: [...left.values()].flat(), fresh };
}

function identity(endpoint: Endpoint): string {
  return `${endpoint.portName}|${endpoint.port}|${endpoint.address}`;
}
