/**
 * Virtual services in force: names full and lower case, delegates merged in.
 *
 * {@linkcode VirtualServiceResolver} works incrementally: a change rebuilds the changed object, and for a delegate also
 * the delegate's roots.
 *
 * @module
 */
import type { HttpRoute, VirtualServiceSpec } from "../config/kinds/kinds.ts";
import { ruleSourceKey } from "../config/kinds/virtual_service/internal.ts";
import { type ConfigObject, objectKey } from "../config/types.ts";
import { mergeDelegate } from "./delegate.ts";
import { effectiveExportTo, fullGateway, fullHost } from "./names.ts";
import type { EffectiveVirtualService, RuleOrigin } from "./types.ts";
import { MESH_GATEWAY } from "./sidecar_rules.ts";
import { oldestFirst } from "./virtual_service_index.ts";
import { type Exported, isVisible } from "./visibility.ts";

/** The settings for the resolution of names and visibility. */
export interface VirtualServiceOptions {
  /** DNS suffix of the mesh, `--domain`. */
  readonly domainSuffix: string;
  /** `defaultVirtualServiceExportTo` of the mesh configuration. */
  readonly defaultExportTo: readonly string[];
}

/** The changes of an update. A replaced object is in both lists. */
export interface VirtualServiceDelta {
  readonly removed: readonly EffectiveVirtualService[];
  readonly added: readonly EffectiveVirtualService[];
}

type Source = ConfigObject<"VirtualService">;

const NO_ROOTS: ReadonlySet<string> = new Set();

/**
 * Keeps the effective virtual services of a changing set of objects. An untouched virtual service stays the same object
 * (`===`).
 */
export class VirtualServiceResolver {
  readonly #options: VirtualServiceOptions;
  readonly #like: VirtualServiceResolver | undefined;
  readonly #sources = new Map<string, Source>();
  readonly #effective = new Map<string, EffectiveVirtualService>();
  /** Keys of the roots that name a delegate, by the delegate's key. The delegate may be missing. */
  readonly #rootsOf = new Map<string, Set<string>>();
  readonly #problems = new Map<string, readonly string[]>();

  /**
   * @param options Fixed for the resolver's life; another mesh configuration needs a new resolver.
   * @param like Another resolver with the same options, whose effective virtual services are used where they are equal.
   */
  constructor(options: VirtualServiceOptions, like?: VirtualServiceResolver) {
    this.#options = options;
    this.#like = like;
  }

  /**
   * Takes in changes. An object with a known key replaces the known object; an object with an equal hash changes
   * nothing.
   *
   * @param added New and changed objects.
   * @param removed Removed objects (only `key` is read); keys in `added` too count as changed.
   */
  update(added: Iterable<Source>, removed: Iterable<{ readonly key: string }> = []): VirtualServiceDelta {
    const dirty = new Set<string>();
    const arrived = new Map<string, Source>();
    for (const source of added) arrived.set(source.key, source);
    for (const { key } of removed) {
      const old = this.#sources.get(key);
      if (!old || arrived.has(key)) continue;
      this.#sources.delete(key);
      this.#unlink(old);
      this.#touch(key, dirty);
    }
    for (const [key, source] of arrived) {
      const old = this.#sources.get(key);
      if (old !== undefined && old.hash === source.hash) continue;
      if (old) this.#unlink(old);
      this.#link(source);
      this.#sources.set(key, source);
      this.#touch(key, dirty);
    }
    const delta = { removed: [] as EffectiveVirtualService[], added: [] as EffectiveVirtualService[] };
    for (const key of dirty) this.#rebuild(key, delta);
    return delta;
  }

  /** All effective virtual services, in order of precedence (older first). */
  values(): EffectiveVirtualService[] {
    return [...this.#effective.values()].sort(oldestFirst);
  }

  /** An object by key, as last taken in. */
  source(key: string): Source | undefined {
    return this.#sources.get(key);
  }

  /** The effective form of an object, by key. Undefined: there is no such form, as for delegates. */
  effective(key: string): EffectiveVirtualService | undefined {
    return this.#effective.get(key);
  }

  /** Keys of the roots of a delegate. */
  rootsOf(key: string): ReadonlySet<string> {
    return this.#rootsOf.get(key) ?? NO_ROOTS;
  }

  /** Why delegates were not merged, by key of the root. */
  get problems(): ReadonlyMap<string, readonly string[]> {
    return this.#problems;
  }

  #touch(key: string, dirty: Set<string>): void {
    dirty.add(key);
    for (const root of this.#rootsOf.get(key) ?? []) dirty.add(root);
  }

  #link(root: Source): void {
    for (const key of delegateKeys(root)) {
      const roots = this.#rootsOf.get(key) ?? new Set<string>();
      this.#rootsOf.set(key, roots.add(root.key));
    }
  }

  #unlink(root: Source): void {
    for (const key of delegateKeys(root)) {
      const roots = this.#rootsOf.get(key);
      roots?.delete(root.key);
      if (roots?.size === 0) this.#rootsOf.delete(key);
    }
  }

  #rebuild(key: string, delta: { removed: EffectiveVirtualService[]; added: EffectiveVirtualService[] }): void {
    const old = this.#effective.get(key);
    if (old) delta.removed.push(old);
    this.#effective.delete(key);
    this.#problems.delete(key);
    const source = this.#sources.get(key);
    if (!source?.spec.hosts?.length) return;
    const { service, problems } = this.#equal(source) ?? resolve(source, this.#sources, this.#options);
    this.#effective.set(key, service);
    if (problems.length) this.#problems.set(key, problems);
    delta.added.push(service);
  }

  /** The effective form of the other resolver, if it was made only of the same object. */
  #equal(source: Source): { service: EffectiveVirtualService; problems: string[] } | undefined {
    const like = this.#like;
    if (like?.source(source.key) !== source || delegateKeys(source).length > 0) return undefined;
    const service = like.effective(source.key);
    return service && { service, problems: [] };
  }
}

/** The effective virtual services of a whole set of objects, in order of precedence (older first). */
export function effectiveVirtualServices(
  objects: Iterable<Source>,
  options: VirtualServiceOptions,
): EffectiveVirtualService[] {
  const resolver = new VirtualServiceResolver(options);
  resolver.update(objects);
  return resolver.values();
}

function delegateKeys(source: Source): string[] {
  if (!source.spec.hosts?.length) return [];
  return (source.spec.http ?? []).flatMap((rule) => rule.delegate ? [delegateKey(source, rule)] : []);
}

function delegateKey(root: Source, rule: HttpRoute): string {
  return objectKey("VirtualService", rule.delegate?.namespace || root.meta.namespace, rule.delegate?.name ?? "");
}

function resolve(
  source: Source,
  sources: ReadonlyMap<string, Source>,
  options: VirtualServiceOptions,
): { service: EffectiveVirtualService; problems: string[] } {
  const { namespace } = source.meta;
  const causes = new Set([source.key]);
  const problems: string[] = [];
  const spec = fullNames(source, options);
  const delegates = spec.http?.some(({ delegate }) => delegate) ?? false;
  const origins: RuleOrigin[] = [];
  const http = delegates ? spec.http?.flatMap(withDelegate) : undefined;
  function withDelegate(rule: HttpRoute, at: number): readonly HttpRoute[] {
    if (!rule.delegate) {
      origins.push({ rule: at });
      return [rule];
    }
    const key = delegateKey(source, rule);
    const delegate = sources.get(key);
    // The analysis reports the delegate, with the field.
    if (!delegate || delegate.spec.hosts?.length) return [];
    causes.add(key);
    if (!isVisible(exported(delegate, options), namespace)) {
      problems.push(`delegate ${key} is not exported to namespace ${namespace}`);
      return [];
    }
    const merged = mergeDelegate(rule, fullNames(delegate, options).http ?? []);
    problems.push(...merged.problems.map((problem) => `delegate ${key}: ${problem}`));
    for (const position of merged.positions) origins.push({ rule: at, delegate: { key, rule: position } });
    return merged.routes;
  }
  for (const { internal } of spec.http ?? []) if (internal) causes.add(ruleSourceKey(internal.source));
  const gateways = spec.gateways?.length ? spec.gateways : SIDECARS;
  const { serviceNamespace } = spec.internal ?? {};
  const service: EffectiveVirtualService = {
    name: source.meta.name,
    namespace,
    hosts: spec.hosts ?? [],
    gateways,
    spec: http ? { ...spec, http } : spec,
    exportTo: exported(source, options).exportTo,
    creationTimestamp: source.meta.creationTimestamp,
    ...(spec.internal ? { segmentPrefixes: true } : {}),
    ...(serviceNamespace === undefined ? {} : { serviceNamespace }),
    causes: [...causes],
    ...(http ? { httpOrigins: origins } : {}),
  };
  return { service, problems };
}

/** The gateways of a virtual service without named gateways. */
const SIDECARS: readonly string[] = Object.freeze([MESH_GATEWAY]);

function exported(source: Source, options: VirtualServiceOptions): Exported {
  const { namespace } = source.meta;
  return { namespace, exportTo: effectiveExportTo(source.spec.exportTo, namespace, options.defaultExportTo) };
}

/**
 * The spec with every host and gateway name full, from the object's own namespace. Parts with full names are not
 * copied: a mesh has many thousand specs, and most people write full names.
 */
function fullNames({ spec, meta }: Source, options: VirtualServiceOptions): VirtualServiceSpec {
  const host = (name: string) => fullHost(name, meta.namespace, options.domainSuffix);
  // A hostname of the Gateway API is what clients write: `localhost` is no service of the namespace.
  const ofClients = spec.internal?.semantics === "gateway";
  const gateway = (name: string) => fullGateway(name, meta.namespace);
  const target = <D extends WithHost>(to: D): D => withFields<WithHost, D>(to, { host: host(to.host) });
  const route = <R extends ToHost>(one: R): R => withFields<ToHost, R>(one, { destination: target(one.destination) });
  const match = <M extends OfGateways>(one: M): M =>
    withFields<OfGateways, M>(one, { gateways: one.gateways && mapped(one.gateways, gateway) });
  const rule = <R extends RoutingRule>(one: R): R =>
    withFields<RoutingRule, R>(one, {
      match: one.match && mapped(one.match, match),
      route: one.route && mapped(one.route, route),
    });
  const http = (one: HttpRoute): HttpRoute =>
    withFields<HttpRoute, HttpRoute>(rule(one), {
      mirror: one.mirror && target(one.mirror),
      mirrors: one.mirrors && mapped(one.mirrors, route),
    });
  return withFields<VirtualServiceSpec, VirtualServiceSpec>(spec, {
    hosts: spec.hosts && unique(mapped(spec.hosts, ofClients ? (name) => name.toLowerCase() : host)),
    gateways: spec.gateways && unique(mapped(spec.gateways, gateway)),
    http: spec.http && mapped(spec.http, http),
    tls: spec.tls && mapped(spec.tls, rule),
    tcp: spec.tcp && mapped(spec.tcp, rule),
  });
}

interface WithHost {
  readonly host: string;
}

interface ToHost {
  readonly destination: WithHost;
}

interface OfGateways {
  readonly gateways?: readonly string[];
}

interface RoutingRule {
  readonly match?: readonly OfGateways[];
  readonly route?: readonly ToHost[];
}

/**
 * An object with other values of fields, or the object itself if all values are equal.
 *
 * @param fields `undefined`: the object lacks the field, and still lacks it afterwards.
 */
function withFields<Base extends object, T extends Base>(
  one: T,
  fields: { readonly [K in keyof Base]?: Base[K] | undefined },
): T {
  const other = Object.entries(fields).filter(([name, value]) => value !== one[name as keyof T]);
  return other.length === 0 ? one : { ...one, ...Object.fromEntries(other) };
}

/** The list with `make` applied to each item, or the list itself if no item changes. */
function mapped<T>(list: readonly T[], make: (item: T) => T): readonly T[] {
  const made = list.map(make);
  return made.every((item, at) => item === list[at]) ? list : made;
}

/** Each item once, or the list itself if no item comes twice. */
function unique<T>(list: readonly T[]): readonly T[] {
  const items = new Set(list);
  return items.size === list.length ? list : [...items];
}
