/**
 * Virtual services as the mesh acts on them: names full and lower case, delegates merged in.
 *
 * {@linkcode VirtualServiceResolver} does it incrementally: a changed object costs itself, and for a delegate its roots.
 *
 * @module
 */
import type { HttpRoute, VirtualServiceSpec } from "../config/kinds/kinds.ts";
import { type ConfigObject, objectKey } from "../config/types.ts";
import { mergeDelegate } from "./delegate.ts";
import { effectiveExportTo, fullGateway, fullHost } from "./names.ts";
import type { EffectiveVirtualService, RuleOrigin } from "./types.ts";
import { mapped, unique, withFields } from "./unchanged.ts";
import { MESH_GATEWAY } from "./sidecar_rules.ts";
import { oldestFirst } from "./virtual_service_index.ts";
import { type Exported, isVisible } from "./visibility.ts";

/** The settings that the resolution of names and visibility depends on. */
export interface VirtualServiceOptions {
  /** DNS suffix of the mesh, `--domain`. */
  readonly domainSuffix: string;
  /** `defaultVirtualServiceExportTo` of the mesh configuration. */
  readonly defaultExportTo: readonly string[];
}

/** The changes of one update. An object that was replaced is in both lists. */
export interface VirtualServiceDelta {
  readonly removed: readonly EffectiveVirtualService[];
  readonly added: readonly EffectiveVirtualService[];
}

type Source = ConfigObject<"VirtualService">;

const NO_ROOTS: ReadonlySet<string> = new Set();

/**
 * Keeps the effective virtual services of a changing set of objects. One that no change touched stays the same (`===`).
 */
export class VirtualServiceResolver {
  readonly #options: VirtualServiceOptions;
  readonly #sources = new Map<string, Source>();
  readonly #effective = new Map<string, EffectiveVirtualService>();
  /** Delegate key to the keys of the roots that name it, also while the delegate does not exist. */
  readonly #rootsOf = new Map<string, Set<string>>();
  readonly #problems = new Map<string, readonly string[]>();

  /** @param options Fixed for the resolver's life; another mesh configuration needs a new resolver. */
  constructor(options: VirtualServiceOptions) {
    this.#options = options;
  }

  /**
   * Takes in changes. An object with the key of a known one replaces it; one with an equal hash changes nothing.
   *
   * @param added New and changed objects.
   * @param removed Objects that went (only `key` is read); keys that are also in `added` count as changed.
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

  /** The effective form of an object, by its key; undefined: it has none, as delegates. */
  effective(key: string): EffectiveVirtualService | undefined {
    return this.#effective.get(key);
  }

  /** Keys of the objects that delegate to one. */
  rootsOf(key: string): ReadonlySet<string> {
    return this.#rootsOf.get(key) ?? NO_ROOTS;
  }

  /** Delegates that could not be merged, in words, by key of the root. */
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
    const { service, problems } = resolve(source, this.#sources, this.#options);
    this.#effective.set(key, service);
    if (problems.length) this.#problems.set(key, problems);
    delta.added.push(service);
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
    // The analysis names it, with the field.
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
  const gateways = spec.gateways?.length ? spec.gateways : SIDECARS;
  const service: EffectiveVirtualService = {
    name: source.meta.name,
    namespace,
    hosts: spec.hosts ?? [],
    gateways,
    spec: http ? { ...spec, http } : spec,
    exportTo: exported(source, options).exportTo,
    creationTimestamp: source.meta.creationTimestamp,
    ...(hasSegmentPrefixes(source.meta) ? { segmentPrefixes: true } : {}),
    causes: [...causes],
    ...(http ? { httpOrigins: origins } : {}),
  };
  return { service, problems };
}

/** The gateways of one that names none. */
const SIDECARS: readonly string[] = Object.freeze([MESH_GATEWAY]);

/** Whether prefixes of a virtual service's paths are of whole segments: one that an Ingress became says so. */
export function hasSegmentPrefixes({ annotations }: Pick<Source["meta"], "annotations">): boolean {
  const semantics = annotations["internal.mesh.io/route-semantics"];
  return semantics === "ingress" || semantics === "gateway";
}

function exported(source: Source, options: VirtualServiceOptions): Exported {
  const { namespace } = source.meta;
  return { namespace, exportTo: effectiveExportTo(source.spec.exportTo, namespace, options.defaultExportTo) };
}

/**
 * The spec with every host and gateway name full, as seen from the object's own namespace. Parts that have full names
 * already are not copied: a mesh has many thousand specs, and most people write full names.
 */
function fullNames({ spec, meta }: Source, options: VirtualServiceOptions): VirtualServiceSpec {
  const host = (name: string) => fullHost(name, meta.namespace, options.domainSuffix);
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
    hosts: spec.hosts && unique(mapped(spec.hosts, host)),
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
