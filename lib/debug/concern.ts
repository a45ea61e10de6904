/**
 * The connected proxies that an object concerns: proxies with a resource made from the object.
 *
 * Proxies share buckets of resources, so each distinct bucket is looked at once.
 *
 * @module
 */
import { carriesLabels } from "../config/schema/labels.ts";
import { Buffer } from "node:buffer";
import { type ConfigObject, isKind, objectKey } from "../config/types.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import type { ResourceBucket, ResourceSet } from "../resource/set.ts";
import type { PushProgress } from "../xds/progress.ts";
import type { ProxyView } from "../xds/protocol/source.ts";
import { CLUSTER, ENDPOINTS, EXTENSION_CONFIG, LISTENER, ROUTE, SECRET } from "../xds/protocol/types.ts";
import type { DebugView } from "./view.ts";

const TYPES = [CLUSTER, ENDPOINTS, EXTENSION_CONFIG, LISTENER, SECRET];

/** The proxies that an object concerns; undefined: the object is not known, so all proxies count. */
export function concernedProxies(
  object: ConfigObject | undefined,
  view: DebugView,
): ReadonlySet<PushProgress> | undefined {
  if (object === undefined) return undefined;
  if (isKind(object, "Sidecar")) return withSidecar(object, view);
  const search = new CauseSearch(isKind(object, "WorkloadEntry") ? selectingEntries(object, view) : [object.key]);
  const found = new Set<PushProgress>();
  for (const { stream, progress } of view.xds.streams()) {
    // A proxy whose builder failed counts, too: the missing resources could come from the object. So does a proxy that
    // goes without the object because it rejects the object's resources.
    const counts = progress?.failing() || stream?.view.withheld?.has(object.key);
    if (stream && progress && (counts || search.has(stream.view))) found.add(progress);
  }
  return found;
}

/** A Sidecar makes no resource, but decides about the resources of its workloads. */
function withSidecar({ key }: ConfigObject, view: DebugView): ReadonlySet<PushProgress> {
  const nodes = new Set<string>();
  for (const { proxy, proxyClass } of view.translator.proxies()) {
    if (proxyClass.scope.sidecar?.key === key) nodes.add(proxy.nodeId);
  }
  const streams = [...view.xds.streams()].filter(({ stream }) => stream && nodes.has(stream.view.id));
  return new Set(streams.flatMap(({ progress }) => progress ?? []));
}

/** Keys of the ServiceEntries that select a WorkloadEntry: resources name the ServiceEntries as their cause. */
function selectingEntries({ meta, spec }: ConfigObject<"WorkloadEntry">, { store }: DebugView): string[] {
  const labels: Readonly<Record<string, string>> = { ...spec.labels, ...meta.labels };
  return store.list("ServiceEntry", meta.namespace)
    .filter(({ spec: { workloadSelector } }) =>
      workloadSelector !== undefined &&
      carriesLabels(labels, workloadSelector.labels ?? {})
    )
    .map(({ meta: { namespace, name } }) => objectKey("ServiceEntry", namespace, name));
}

/**
 * The connected proxies with a resource made from an object of a group, by group. Everything is looked at once, however
 * many objects there are. Unlike {@linkcode concernedProxies}, proxies with failed builders count only if they have such
 * a resource.
 *
 * @param groups The groups of each object, by the object's key.
 */
export function proxiesByGroup<Group>(
  groups: ReadonlyMap<string, readonly Group[]>,
  view: DebugView,
): ReadonlyMap<Group, ReadonlySet<PushProgress>> {
  const found = new Map<Group, Set<PushProgress>>();
  if (groups.size === 0) return found;
  const search = new GroupSearch(
    new Map(groups.entries().flatMap(([key, of]) => causesOf(key, view).map((one) => [one, of]))),
  );
  const sidecars = sidecarsOfNodes(groups, view);
  for (const { stream, progress } of view.xds.streams()) {
    if (!stream || !progress) continue;
    const { withheld, id } = stream.view;
    const keys = [...withheld?.keys() ?? [], ...sidecars.get(id) ?? []];
    const own = new Set([...search.groupsOf(stream.view), ...keys.flatMap((key) => groups.get(key) ?? [])]);
    for (const group of own) found.getOrInsertComputed(group, () => new Set()).add(progress);
  }
  return found;
}

/** The keys that resources name as the cause for an object. */
function causesOf(key: string, view: DebugView): string[] {
  const [kind, namespace = "", name = ""] = key.split("/");
  const entry = kind === "WorkloadEntry" ? view.store.get("WorkloadEntry", namespace, name) : undefined;
  return entry === undefined ? [key] : selectingEntries(entry, view);
}

/** The Sidecars of interest, by the id of the nodes that they decide about. */
function sidecarsOfNodes(
  groups: ReadonlyMap<string, unknown>,
  view: DebugView,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  if (!groups.keys().some((key) => key.startsWith("Sidecar/"))) return found;
  for (const { proxy, proxyClass: { scope: { sidecar } } } of view.translator.proxies()) {
    if (sidecar !== undefined && groups.has(sidecar.key)) found.set(proxy.nodeId, [sidecar.key]);
  }
  return found;
}

/** Finds the groups of the objects that resources are made from. Each bucket and set is looked at once. */
class GroupSearch<Group> {
  readonly #groups: ReadonlyMap<string, readonly Group[]>;
  readonly #ofBucket = new Map<ResourceBucket, readonly Group[]>();
  readonly #ofSet = new Map<ResourceSet, readonly Group[]>();
  readonly #askers = new RouteAskers();

  constructor(groups: ReadonlyMap<string, readonly Group[]>) {
    this.#groups = groups;
  }

  groupsOf(view: ProxyView): ReadonlySet<Group> {
    const found = new Set(TYPES.flatMap((type) => view.resourceSets(type) ?? []).flatMap((set) => this.#inSet(set)));
    for (const routes of view.resourceSets(ROUTE) ?? []) {
      for (const route of routes.list) {
        const hosts = view.virtualHosts(route.name).flatMap((set) => this.#inSet(set));
        const own = new Set([...this.#inResource(route), ...hosts]).difference(found);
        if (own.size === 0 || !this.#askers.hasAsker(route.name, view)) continue;
        for (const group of own) found.add(group);
      }
    }
    return found;
  }

  #inSet(set: ResourceSet): readonly Group[] {
    let found = this.#ofSet.get(set);
    if (found === undefined) {
      this.#ofSet.set(set, found = [...new Set(set.buckets.flatMap((bucket) => this.#inBucket(bucket)))]);
    }
    return found;
  }

  #inBucket(bucket: ResourceBucket): readonly Group[] {
    let found = this.#ofBucket.get(bucket);
    if (found === undefined) {
      this.#ofBucket.set(bucket, found = [...new Set(bucket.resources.flatMap((one) => this.#inResource(one)))]);
    }
    return found;
  }

  #inResource({ causes }: EncodedResource): readonly Group[] {
    return causes.flatMap((cause) => this.#groups.get(cause) ?? []);
  }
}

/** Looks for resources made from some objects. Each bucket and set is remembered. */
class CauseSearch {
  readonly #keys: ReadonlySet<string>;
  readonly #caused = new ByBucket(({ causes }) => causes.some((cause) => this.#keys.has(cause)));
  readonly #askers = new RouteAskers();

  constructor(keys: Iterable<string>) {
    this.#keys = new Set(keys);
  }

  /**
   * Whether any resource of a proxy is made from the objects. A route configuration counts only if a listener asks for
   * the configuration.
   */
  has(view: ProxyView): boolean {
    if (TYPES.some((type) => view.resourceSets(type)?.some((set) => this.#caused.any(set)))) return true;
    return (view.resourceSets(ROUTE) ?? []).some((routes) =>
      routes.list.some((route) =>
        (this.#caused.is(route) || view.virtualHosts(route.name).some((set) => this.#caused.any(set))) &&
        this.#askers.hasAsker(route.name, view)
      )
    );
  }
}

/** The listeners that ask for route configurations. Each name and bucket is looked at once. */
class RouteAskers {
  readonly #askers = new Map<string, ByBucket>();

  /** Whether a listener of a proxy asks for a route configuration. */
  hasAsker(route: string, view: ProxyView): boolean {
    let askers = this.#askers.get(route);
    if (askers === undefined) {
      // Field 2 of `Rds` in its encoded form: the listener must not be decoded for the name.
      const name = new TextEncoder().encode(route);
      const field = Buffer.from([0x12, ...varint(name.length), ...name]);
      askers = new ByBucket(({ value }) => Buffer.from(value.buffer, value.byteOffset, value.length).includes(field));
      this.#askers.set(route, askers);
    }
    const found = askers;
    return (view.resourceSets(LISTENER) ?? []).some((set) => found.any(set));
  }
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [value & 127 | 128, ...varint(value >> 7)];
}

/** Whether some resource of a set passes a test. Each distinct bucket is looked at once. */
class ByBucket {
  readonly is: (resource: EncodedResource) => boolean;
  readonly #buckets = new Map<ResourceBucket, boolean>();
  readonly #sets = new Map<ResourceSet, boolean>();

  constructor(is: (resource: EncodedResource) => boolean) {
    this.is = is;
  }

  any(set: ResourceSet): boolean {
    let found = this.#sets.get(set);
    if (found === undefined) this.#sets.set(set, found = set.buckets.some((bucket) => this.#inBucket(bucket)));
    return found;
  }

  #inBucket(bucket: ResourceBucket): boolean {
    let found = this.#buckets.get(bucket);
    if (found === undefined) this.#buckets.set(bucket, found = bucket.resources.some((one) => this.is(one)));
    return found;
  }
}
