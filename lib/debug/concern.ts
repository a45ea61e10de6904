/**
 * Which connected proxies an object concerns: those of which a resource is made from it.
 *
 * Resources are shared between proxies by bucket, so each distinct bucket is looked at once.
 *
 * @module
 */
import { type ConfigObject, isKind, objectKey } from "../config/types.ts";
import { kindNotBuiltText } from "../kernel/not_built/catalogue.ts";
import type { ResourceBucket, ResourceSet } from "../resource/set.ts";
import type { PushProgress } from "../xds/ledger.ts";
import type { ProxyView } from "../xds/protocol/source.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, SECRET } from "../xds/protocol/types.ts";
import type { DebugView } from "./view.ts";

const TYPES = [CLUSTER, ENDPOINTS, LISTENER, ROUTE, SECRET];

/** The proxies that an object concerns; undefined: all, since it is not known or acts on no resource yet. */
export function concernedProxies(
  object: ConfigObject | undefined,
  view: DebugView,
): ReadonlySet<PushProgress> | undefined {
  if (object === undefined || kindNotBuiltText(object.kind) !== undefined) return undefined;
  if (isKind(object, "Sidecar")) return withSidecar(object, view);
  const search = new CauseSearch(isKind(object, "WorkloadEntry") ? selectingEntries(object, view) : [object.key]);
  const found = new Set<PushProgress>();
  for (const { stream, progress } of view.xds.streams()) {
    // Of a proxy that lacks what could not be made nobody knows that it would have nothing of the object.
    if (stream && progress && (progress.failing() || search.has(stream.view))) found.add(progress);
  }
  return found;
}

/** A Sidecar makes no resource; it decides which ones its workloads get. */
function withSidecar({ key }: ConfigObject, view: DebugView): ReadonlySet<PushProgress> {
  const nodes = new Set<string>();
  for (const { proxy, proxyClass } of view.translator.proxies()) {
    if (proxyClass.scope.sidecar?.key === key) nodes.add(proxy.nodeId);
  }
  const streams = [...view.xds.streams()].filter(({ stream }) => stream && nodes.has(stream.view.id));
  return new Set(streams.flatMap(({ progress }) => progress ?? []));
}

/** Keys of the service entries that select a workload entry: resources name them as their cause. */
function selectingEntries({ meta, spec }: ConfigObject<"WorkloadEntry">, { store }: DebugView): string[] {
  const labels: Readonly<Record<string, string>> = { ...spec.labels, ...meta.labels };
  return store.list("ServiceEntry", meta.namespace)
    .filter(({ spec: { workloadSelector } }) =>
      workloadSelector !== undefined &&
      Object.entries(workloadSelector.labels ?? {}).every(([key, value]) => labels[key] === value)
    )
    .map(({ meta: { namespace, name } }) => objectKey("ServiceEntry", namespace, name));
}

/** Looks for resources that one of some objects has caused; remembers each bucket and set. */
class CauseSearch {
  readonly #keys: ReadonlySet<string>;
  readonly #buckets = new Map<ResourceBucket, boolean>();
  readonly #sets = new Map<ResourceSet, boolean>();

  constructor(keys: Iterable<string>) {
    this.#keys = new Set(keys);
  }

  /** Whether any resource of a proxy is made from them. */
  has(view: ProxyView): boolean {
    if (TYPES.some((type) => view.resourceSets(type)?.some((set) => this.#inSet(set)))) return true;
    return (view.resourceSets(ROUTE) ?? []).some((routes) =>
      routes.list.some(({ name }) => view.virtualHosts(name).some((set) => this.#inSet(set)))
    );
  }

  #inSet(set: ResourceSet): boolean {
    let found = this.#sets.get(set);
    if (found === undefined) this.#sets.set(set, found = set.buckets.some((bucket) => this.#inBucket(bucket)));
    return found;
  }

  #inBucket(bucket: ResourceBucket): boolean {
    let found = this.#buckets.get(bucket);
    if (found === undefined) {
      found = bucket.resources.some(({ causes }) => causes.some((cause) => this.#keys.has(cause)));
      this.#buckets.set(bucket, found);
    }
    return found;
  }
}
