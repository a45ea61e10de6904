/**
 * The objects, and the parts of objects, behind the resources of all proxies.
 *
 *     sets of resources of all proxies ─> distinct buckets ─> causes and parts, counted ─> what is in force somewhere
 *
 * Proxies share sets, and sets share buckets. So looking again costs a step for each proxy, a step for each bucket, and
 * the resources of the buckets that came or went.
 *
 * @module
 */
import { parseOutboundClusterName } from "../translate/destination/names.ts";
import { TYPE } from "../translate/encode/encode.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import type { ResourceBucket, ResourceSet } from "../resource/set.ts";
import { AskedRoutes } from "./asked_routes.ts";

/** The resources of a proxy. */
export interface EffectiveProxy {
  /** The proxy's resources of a type; undefined: the proxy gets no resources of the type. */
  resourceSets(typeUrl: string): readonly ResourceSet[] | undefined;
  /** The virtual hosts of a route configuration of the proxy. */
  virtualHosts(routeConfiguration: string): readonly ResourceSet[];
}

const TYPES = [TYPE.cluster, TYPE.assignment, TYPE.listener, TYPE.extension, TYPE.secret];

type ClusterOf = NonNullable<ReturnType<typeof parseOutboundClusterName>>;

/** Up to this number of parts, looking at each part for each cause costs less than an index. */
const MANY_PARTS = 50;

/** The objects and parts in force. */
export class InForce {
  #buckets = new Set<ResourceBucket>();
  readonly #asked = new AskedRoutes();
  /** The number of resources made from an object, by the object's key, then by the named part. */
  readonly #counts = new Map<string, Map<string, number>>();
  /**
   * The positions inside a part's name, by part. Kept during a single look, because resources repeat the same parts.
   */
  readonly #positions = new Map<string, readonly string[]>();
  /** Keys of objects that gained or lost a resource since the last {@linkcode InForce.takeChanged}. */
  #changed = new Set<string>();

  /** Looks at the resources of all proxies, a proxy at each step. */
  *look(proxies: Iterable<EffectiveProxy>): Generator<void, void> {
    const sets = new Set<ResourceSet>();
    const routes = new RoutesOnce();
    for (const proxy of proxies) {
      for (const type of TYPES) for (const set of proxy.resourceSets(type) ?? []) sets.add(set);
      for (const set of this.#routesOf(proxy, routes)) sets.add(set);
      yield;
    }
    const buckets = new Set<ResourceBucket>();
    let steps = 0;
    for (const set of sets) {
      for (const bucket of set.buckets) buckets.add(bucket);
      if (++steps % SETS_A_STEP === 0) yield;
    }
    yield* this.#countChanges(buckets);
    this.#buckets = buckets;
    this.#positions.clear();
  }

  /** Counts the resources that came or went. A changed bucket shares most of its resources with the bucket before. */
  *#countChanges(buckets: ReadonlySet<ResourceBucket>): Generator<void, void> {
    const steps = new Map<EncodedResource, number>();
    const add = ({ resources }: ResourceBucket, step: 1 | -1) => {
      for (const resource of resources) steps.set(resource, (steps.get(resource) ?? 0) + step);
    };
    for (const bucket of buckets) {
      if (this.#buckets.has(bucket)) continue;
      add(bucket, 1);
      yield;
    }
    for (const bucket of this.#buckets) {
      if (buckets.has(bucket)) continue;
      add(bucket, -1);
      yield;
    }
    let counted = 0;
    for (const [resource, times] of steps) {
      if (times === 0) continue;
      this.#count(resource, times);
      if (++counted % RESOURCES_A_STEP === 0) yield;
    }
  }

  /**
   * Sets of the routes that a listener of the proxy asks for. Empty after an earlier look at another proxy with the
   * same sets.
   */
  *#routesOf(proxy: EffectiveProxy, once: RoutesOnce): Iterable<ResourceSet> {
    const routes = proxy.resourceSets(TYPE.route) ?? [];
    if (routes.every(({ size }) => size === 0)) return;
    const asking = (proxy.resourceSets(TYPE.listener) ?? []).filter((set) => this.#asked.of(set).size > 0);
    if (!once.isFirst([...routes, ...asking])) return;
    const names = new Set(asking.flatMap((set) => [...this.#asked.of(set)]));
    for (const set of routes) {
      for (const { name } of set) if (names.has(name)) yield* proxy.virtualHosts(name);
      // The resources of a route configuration count even when no listener asks for the configuration: the resources
      // may come from patches.
      yield set;
    }
  }

  #count(resource: EncodedResource, step: number): void {
    const { causes, parts, typeUrl } = resource;
    // Of a virtual host with rules of thousands of routes, each route names a part.
    const byCause = parts.length > MANY_PARTS
      ? Map.groupBy(parts, (part) => part.slice(0, part.indexOf(" ")))
      : undefined;
    for (const cause of causes) {
      if (typeUrl === TYPE.route && parts.length === 0 && !mayBeInRoutes(cause)) continue;
      const own = byCause === undefined ? parts : byCause.get(cause) ?? [];
      if (this.#countParts(cause, own, step)) continue;
      const read = clusterPartsOf(cause);
      if (read === undefined) this.#add(cause, WHOLE, step);
      else for (const part of clusterParts(read, resource)) this.#add(cause, part, step);
    }
  }

  /** Counts the parts of a cause that a resource names. Returns false when the resource names no part of the cause. */
  #countParts(cause: string, parts: readonly string[], step: number): boolean {
    let named = false;
    for (const part of parts) {
      // The next character is looked at first: most parts belong to another cause.
      if (part.charCodeAt(cause.length) !== SPACE || !part.startsWith(cause)) continue;
      named = true;
      for (const position of this.#positionsOf(part)) this.#add(cause, position, step);
    }
    return named;
  }

  /** The positions `list position` in a part `cause list position position...`. Resources share parts. */
  #positionsOf(part: string): readonly string[] {
    return this.#positions.getOrInsertComputed(part, () => {
      const [, list = "", ...positions] = part.split(" ");
      return positions.map((position) => `${list} ${position}`);
    });
  }

  /** @param step By how much the count changes. Never 0. */
  #add(cause: string, part: string, step: number): void {
    const parts = this.#counts.getOrInsertComputed(cause, () => new Map<string, number>());
    const count = (parts.get(part) ?? 0) + step;
    if (count > 0) parts.set(part, count);
    else parts.delete(part);
    if (parts.size === 0) this.#counts.delete(cause);
    if (count === 0 || count === step) this.#changed.add(cause);
  }

  /** Whether any resource is made from an object. */
  has(key: string): boolean {
    return this.#counts.has(key);
  }

  /**
   * Whether some resource is made from a part of an object. True also for an object with a resource that does not name
   * its part.
   */
  hasPart(key: string, part: string): boolean {
    const parts = this.#counts.get(key);
    return parts !== undefined && (parts.has(part) || parts.has(WHOLE));
  }

  /** Whether some resource is made from a list item of an object, or from anything inside the item. */
  hasWithin(key: string, list: string, position: string): boolean {
    const parts = this.#counts.get(key);
    if (parts === undefined) return false;
    const part = `${list} ${position}`;
    return parts.has(WHOLE) || parts.has(part) || parts.keys().some((one) => one.startsWith(`${part}.`));
  }

  /** Whether clients have clusters made from a DestinationRule. Only then the used ports and subsets are known. */
  hasClusters(key: string): boolean {
    return this.#counts.get(key)?.keys().some((part) => part.startsWith("port ")) ?? false;
  }

  /** The objects that gained or lost a resource since the last call. */
  takeChanged(): ReadonlySet<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }
}

/** Types of resources that have the name of a cluster. */
const BY_NAME: ReadonlySet<string> = new Set([TYPE.cluster, TYPE.assignment]);

/** Resource sets whose buckets are collected in a single step. Each set costs some microseconds. */
const SETS_A_STEP = 256;

/** Resources that are counted in a single step, as many as a bucket has. */
const RESOURCES_A_STEP = 32;
const SPACE = 32;
/** All of an object, as far as is known. */
const WHOLE = "";
/** The part of a resource that says less than another resource of the same object. */
const ELSEWHERE = "elsewhere";

/**
 * Route configurations name the objects of their inline virtual hosts. Virtual hosts are looked at separately, except
 * those of waypoints: the route configurations of waypoints name the parts themselves.
 */
function mayBeInRoutes(cause: string): boolean {
  return cause.startsWith("ProxyFilter/");
}

type ClusterParts = (of: ClusterOf) => Iterable<string>;

/** How the name of a cluster names a part of an object; undefined: objects of the kind are in force as a whole. */
function clusterPartsOf(cause: string): ClusterParts | undefined {
  if (cause.startsWith("DestinationRule/")) return ruleParts;
  return cause.startsWith("ServiceEntry/") ? entryParts : undefined;
}

/** The parts of an object that a resource's name says. A resource of the server's side names no port. */
function* clusterParts(read: ClusterParts, { typeUrl, name }: EncodedResource): Iterable<string> {
  const isNamed = BY_NAME.has(typeUrl);
  const of = isNamed ? parseOutboundClusterName(name) : undefined;
  if (of !== undefined) yield* read(of);
  else yield !isNamed || name.startsWith("inbound|") ? ELSEWHERE : WHOLE;
}

function* ruleParts({ port, subset }: ClusterOf): Iterable<string> {
  yield `port ${port}`;
  if (subset === "") return;
  yield `subset ${subset}`;
  yield `port ${port} of ${subset}`;
}

function* entryParts({ host, port }: ClusterOf): Iterable<string> {
  yield `host ${host}`;
  yield `port ${port} of ${host}`;
}

/** Remembers the lists of sets that were looked at. */
class RoutesOnce {
  readonly #seen = new Map<ResourceSet, (readonly ResourceSet[])[]>();

  isFirst(sets: readonly [ResourceSet, ...ResourceSet[]] | readonly ResourceSet[]): boolean {
    const [first] = sets;
    if (first === undefined) return false;
    const lists = this.#seen.getOrInsertComputed(first, () => []);
    if (lists.some((list) => list.length === sets.length && list.every((set, at) => set === sets[at]))) return false;
    lists.push(sets);
    return true;
  }
}
