/**
 * The connected proxies that an object concerns: proxies with a resource made from the object.
 *
 * Proxies share buckets of resources, so each distinct bucket is looked at once.
 *
 * @module
 */
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
      Object.entries(workloadSelector.labels ?? {}).every(([key, value]) => labels[key] === value)
    )
    .map(({ meta: { namespace, name } }) => objectKey("ServiceEntry", namespace, name));
}

/** Looks for resources made from some objects. Each bucket and set is remembered. */
class CauseSearch {
  readonly #keys: ReadonlySet<string>;
  readonly #caused = new ByBucket(({ causes }) => causes.some((cause) => this.#keys.has(cause)));
  /** The listeners that ask for a route configuration, by the configuration's name. */
  readonly #askers = new Map<string, ByBucket>();

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
        this.#isAskedFor(route.name, view)
      )
    );
  }

  #isAskedFor(route: string, view: ProxyView): boolean {
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
