/**
 * The objects from which the resources of node tunnels are made, with look-ups in both directions.
 *
 * @module
 */
import type { AnyFact, Fact } from "../config/facts/types.ts";
import type { AnyConfigObject, ConfigObject } from "../config/types.ts";
import type { Labels } from "../registry/labels.ts";
import { hostnameOf } from "../registry/orch/service.ts";
import { externalNameOf } from "../registry/orch/stand_in.ts";
import { WorkloadSelection } from "../registry/selection.ts";
import { SmallMultimap } from "../registry/small_multimap.ts";

/** Kinds of facts behind resources. */
export const AMBIENT_FACTS = ["Namespace", "Node", "Service", "EndpointSlice", "Pod"] as const;
/** Kinds of configuration behind resources. */
export const AMBIENT_CONFIGURATION = ["ServiceEntry", "WorkloadEntry", "ApiGateway", "GatewayClass"] as const;

type AmbientFactKind = (typeof AMBIENT_FACTS)[number];
type AmbientConfigKind = (typeof AMBIENT_CONFIGURATION)[number];
type AmbientKind = AmbientFactKind | AmbientConfigKind;

/** An object behind resources. */
export type AmbientObject =
  | { [K in AmbientFactKind]: Fact<K> }[AmbientFactKind]
  | { [K in AmbientConfigKind]: ConfigObject<K> }[AmbientConfigKind];

type ObjectOf<K extends AmbientKind> = Extract<AmbientObject, { readonly kind: K }>;

/** Whether an object is behind resources of tunnels. */
export function isAmbientObject(object: AnyFact | AnyConfigObject): object is AmbientObject {
  return isAmbientKind(object.kind);
}

/** Whether objects of a kind are behind resources of tunnels. */
export function isAmbientKind(kind: string): kind is AmbientKind {
  return ([...AMBIENT_FACTS, ...AMBIENT_CONFIGURATION] as readonly string[]).includes(kind);
}

/** A Service or ServiceEntry with a selector. */
export interface AmbientSelector {
  /** Key of the object. */
  readonly key: string;
  readonly kind: "Service" | "ServiceEntry";
  readonly namespace: string;
  readonly selector: Labels;
}

/** A pod or workload entry that may be selected. */
export interface SelectedWorkload {
  /** Key of the object. */
  readonly key: string;
  readonly kind: "Pod" | "WorkloadEntry";
  readonly namespace: string;
  readonly labels: Labels;
}

const NO_LABELS: Labels = Object.freeze({});

/** The selector of a Service or entry; undefined: it selects nothing. */
export function selectorOf(object: ObjectOf<"Service" | "ServiceEntry">): AmbientSelector | undefined {
  const { key, kind, meta: { namespace } } = object;
  const selector = kind === "Service"
    ? externalNameOf(object.spec) === undefined ? object.spec.selector : undefined
    : object.spec.workloadSelector?.labels;
  return selector === undefined || Object.keys(selector).length === 0 ? undefined : { key, kind, namespace, selector };
}

/** The labels of a pod or workload entry. Labels of the entry win over labels of its spec. */
export function labelsOf(object: ObjectOf<"Pod" | "WorkloadEntry">): Labels {
  return object.kind === "Pod" ? object.spec.labels : { ...object.spec.labels, ...object.meta.labels };
}

/** Objects by key, with the indexes over them. */
export class AmbientObjects {
  readonly #byKind: { readonly [K in AmbientKind]: Map<string, ObjectOf<K>> } = {
    Namespace: new Map(),
    Node: new Map(),
    Service: new Map(),
    EndpointSlice: new Map(),
    Pod: new Map(),
    ServiceEntry: new Map(),
    WorkloadEntry: new Map(),
    ApiGateway: new Map(),
    GatewayClass: new Map(),
  };
  readonly #selectors = new Map<string, AmbientSelector>();
  readonly #selection = new WorkloadSelection<AmbientSelector, SelectedWorkload>();
  readonly #selected = new Map<string, SelectedWorkload>();
  /** Keys of slices by the key of their Service. */
  readonly #slicesOf = new SmallMultimap<string, string>();
  /** Keys of slices by the key of a Pod that they name. Only slices that no selector explains. */
  readonly #slicesWith = new SmallMultimap<string, string>();
  /** Keys of entries by host: `namespace/host`. */
  readonly #entriesOf = new SmallMultimap<string, string>();

  get<K extends AmbientKind>(kind: K, namespace: string, name: string): ObjectOf<K> | undefined {
    return this.#byKind[kind].get(`${kind}/${namespace}/${name}`) as ObjectOf<K> | undefined;
  }

  at(key: string): AmbientObject | undefined {
    const kind = key.slice(0, key.indexOf("/"));
    return isAmbientKind(kind) ? this.#byKind[kind].get(key) : undefined;
  }

  /** All objects of a kind. */
  all<K extends AmbientKind>(kind: K): Iterable<ObjectOf<K>> {
    return this.#byKind[kind].values() as Iterable<ObjectOf<K>>;
  }

  /** Puts an object in place of its earlier version. @param now undefined: the object is gone */
  put(key: string, now: AmbientObject | undefined): void {
    const old = this.at(key);
    // The slices of a Service are indexed by whether the Service has a selector.
    const slices = (now ?? old)?.kind === "Service" ? this.slicesOf(key) : [];
    for (const slice of slices) this.#indexSlice(slice, "delete");
    if (old !== undefined) this.#index(old, false);
    const kind = (now ?? old)?.kind;
    if (kind === undefined) return;
    // The map of a kind holds only objects of this kind. The compiler cannot follow the rule for a kind unknown at
    // compile time.
    const objects = this.#byKind[kind] as Map<string, AmbientObject>;
    if (now === undefined) objects.delete(key);
    else objects.set(key, now);
    if (now !== undefined) this.#index(now, true);
    for (const slice of slices) this.#indexSlice(slice, "add");
  }

  /** The Services and entries that select a workload. */
  selecting(workload: SelectedWorkload): Iterable<AmbientSelector> {
    return this.#selection.entriesOf(workload);
  }

  /** The workloads selected by a selector. */
  selected(selector: AmbientSelector): readonly SelectedWorkload[] {
    return this.#selection.workloadsOf(selector);
  }

  /** The entry of a pod or workload entry in the index of selectors. */
  selectable(key: string): SelectedWorkload | undefined {
    return this.#selected.get(key);
  }

  /** The slices of a Service. */
  slicesOf(service: string): readonly Fact<"EndpointSlice">[] {
    return this.#slicesOf.get(service).map((key) => this.#byKind.EndpointSlice.get(key)!);
  }

  /** The slices that put a pod behind a Service without a selector. */
  slicesWith(pod: string): readonly Fact<"EndpointSlice">[] {
    return this.#slicesWith.get(pod).map((key) => this.#byKind.EndpointSlice.get(key)!);
  }

  /** The entries of a host. @param host `namespace/host` */
  entriesOf(host: string): readonly ConfigObject<"ServiceEntry">[] {
    return this.#entriesOf.get(host).map((key) => this.#byKind.ServiceEntry.get(key)!);
  }

  /** Keys of the objects with workloads. @param namespace undefined: in all namespaces */
  *workloads(namespace: string | undefined): Generator<string> {
    for (const kind of ["Pod", "WorkloadEntry", "ServiceEntry", "EndpointSlice"] as const) {
      for (const { key, meta } of this.#byKind[kind].values()) {
        if (namespace === undefined || meta.namespace === namespace) yield key;
      }
    }
  }

  /** `namespace/host` of all Services and entries. @param domain DNS suffix of services */
  *hosts(domain: string): Generator<string> {
    for (const service of this.#byKind.Service.values()) yield* hostsOf(service, domain);
    for (const [host] of this.#entriesOf.entries()) yield host;
  }

  namespaceLabels(namespace: string): Labels {
    return this.get("Namespace", "", namespace)?.meta.labels ?? NO_LABELS;
  }

  #index(object: AmbientObject, present: boolean): void {
    const place = present ? "add" : "delete";
    switch (object.kind) {
      case "Service":
        return this.#indexSelector(object, present);
      case "ServiceEntry":
        for (const host of hostKeys(object)) this.#entriesOf[place](host, object.key);
        return this.#indexSelector(object, present);
      case "Pod":
      case "WorkloadEntry":
        return this.#indexWorkload(object, present);
      case "EndpointSlice":
        if (present) this.#slicesOf.add(serviceOfSlice(object), object.key);
        this.#indexSlice(object, place);
        if (!present) this.#slicesOf.delete(serviceOfSlice(object), object.key);
    }
  }

  #indexSelector(object: ObjectOf<"Service" | "ServiceEntry">, present: boolean): void {
    const { key } = object;
    const known = this.#selectors.get(key);
    if (known !== undefined) this.#selection.removeEntry(known);
    this.#selectors.delete(key);
    const selector = present ? selectorOf(object) : undefined;
    if (selector === undefined) return;
    this.#selectors.set(key, selector);
    this.#selection.addEntry(selector);
  }

  #indexWorkload(object: ObjectOf<"Pod" | "WorkloadEntry">, present: boolean): void {
    const { key, kind, meta: { namespace } } = object;
    const known = this.#selected.get(key);
    if (known !== undefined) this.#selection.removeWorkload(key, known);
    if (!present) return void this.#selected.delete(key);
    const workload = { key, kind, namespace, labels: labelsOf(object) };
    this.#selected.set(key, workload);
    this.#selection.addWorkload(key, workload);
  }

  #indexSlice(slice: Fact<"EndpointSlice">, place: "add" | "delete"): void {
    if (this.#selectors.has(serviceOfSlice(slice))) return;
    for (const pod of podsOfSlice(slice)) this.#slicesWith[place](pod, slice.key);
  }
}

/** `namespace/host` for each host of a Service or entry. @param domain DNS suffix of services */
export function hostsOf(object: ObjectOf<"Service" | "ServiceEntry">, domain: string): readonly string[] {
  return object.kind === "ServiceEntry"
    ? hostKeys(object)
    : [`${object.meta.namespace}/${hostnameOf(object, { domain })}`];
}

/** Key of the Service of a slice. */
export function serviceOfSlice({ meta: { namespace }, spec: { service } }: Fact<"EndpointSlice">): string {
  return `Service/${namespace}/${service}`;
}

/** Keys of the pods that a slice names. */
export function* podsOfSlice({ meta: { namespace }, spec: { endpoints } }: Fact<"EndpointSlice">): Generator<string> {
  for (const { pod } of endpoints) if (pod !== undefined) yield `Pod/${namespace}/${pod}`;
}

/** `namespace/host` for each host of an entry. */
export function hostKeys({ meta: { namespace }, spec: { hosts } }: ConfigObject<"ServiceEntry">): string[] {
  return [...new Set(hosts.map((host) => `${namespace}/${host.toLowerCase()}`))];
}
