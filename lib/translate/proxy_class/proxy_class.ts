/**
 * One class of proxies: all that see the same and would get the same answers to everything that translation asked.
 *
 * @module
 */
import type { Scope } from "../../mesh/scope.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { Caches, DirtyUnits } from "../cache/caches.ts";
import type { ListenerConflict } from "../listener/conflict.ts";
import type { ProxyProperties } from "../reader/proxy_properties.ts";
import { HTTP_PROXY_ROUTES } from "../route/placement.ts";
import type { ScopeReader } from "../reader/scope_reader.ts";
import { type BaseReader, type PropertyQuestion, Trace } from "../reader/read_record.ts";
import { RecordingReader } from "../reader/recording_reader.ts";
import type { Unit } from "../reader/build_cache.ts";
import type { Warning } from "../message/warning.ts";
import { HostResources } from "./host_resources.ts";
import { type MergeListener, OutboundListeners } from "./listeners.ts";
import { Questions } from "./questions.ts";
import { OutboundRoutes } from "./routes.ts";

/** What all proxies of a class share. */
export interface SharedSets {
  readonly clusters: ResourceSet;
  /** Clusters and listeners that belong to no host. */
  readonly baseClusters: ResourceSet;
  readonly baseListeners: ResourceSet;
  readonly assignments: ResourceSet;
  readonly listeners: ResourceSet;
  readonly routes: ResourceSet;
}

/** What decides the form of everything in a class, whatever its units ask. */
export function formQuestions(reader: BaseReader): Trace {
  const trace = new Trace();
  const read = new RecordingReader(reader, trace);
  read.property("type");
  read.property("vhds");
  read.derived("hasHttpProxy", hasHttpProxy);
  return trace;
}

function hasHttpProxy(properties: ProxyProperties): boolean {
  return properties.httpProxyPort > 0;
}

/** A class to begin as a copy of. */
export interface Model<C> {
  readonly like: C;
  /**
   * Proxies come from there: where a builder throws, what they have stays in force. False: it is only much cheaper to
   * find that a unit is the same than to put it into place, since most classes are nearly alike.
   */
  readonly inherits: boolean;
}

/** A class of proxies. */
export interface ProxyClass {
  readonly type: "sidecar" | "router";
  readonly scope: Scope;
  readonly sets: SharedSets;
  fits(properties: ProxyProperties): boolean;
  takeFreshQuestions(): readonly PropertyQuestion[];
  update(dirty: DirtyUnits): void;
  /** A builder threw when it was last looked at: what there was of that work before stays in force. */
  readonly failing: boolean;
  virtualHosts(routeConfiguration: string): ResourceSet;
  /** Ports of hosts that lost a conflict: a list a listener, the same object in all classes that share the listener. */
  conflicts(): Iterable<readonly ListenerConflict[]>;
  /** What users wrote and do not get because of what else this class sees, beside conflicts. */
  warnings(): Iterable<Warning>;
}

/** A class of sidecars. */
export class SidecarClass implements ProxyClass {
  readonly type = "sidecar";
  readonly scope: Scope;
  readonly reader: ScopeReader;
  readonly #caches: Caches;
  readonly #questions = new Questions();
  readonly #clusters: HostResources;
  readonly #assignments: HostResources;
  readonly #listeners: OutboundListeners;
  readonly #routes: OutboundRoutes;
  #base!: { readonly clusters: ResourceSet; readonly listeners: ResourceSet };
  failing = false;

  constructor(reader: ScopeReader, caches: Caches, { like, inherits = true }: Partial<Model<SidecarClass>> = {}) {
    this.scope = reader.scope;
    this.reader = reader;
    this.#caches = caches;
    this.#questions.add(formQuestions(reader));
    const { empty } = caches;
    const merge: MergeListener = (key, contributions, r) => caches.merged.get(key, contributions, r);
    this.#clusters = new HostResources(caches.clusters, empty, like ? like.#clusters : undefined);
    this.#assignments = new HostResources(caches.assignments, empty, like ? like.#assignments : undefined);
    this.#listeners = new OutboundListeners(caches.contributions, merge, empty, like ? like.#listeners : undefined);
    const both = { routes: empty, virtualHosts: empty };
    const sameForm = like && like.reader.properties.vhds === reader.properties.vhds;
    const routes = sameForm ? like.#routes : undefined;
    const form = {
      vhds: reader.properties.vhds,
      always: new Set(hasHttpProxy(reader.properties) ? [HTTP_PROXY_ROUTES] : []),
    };
    this.#routes = new OutboundRoutes(caches.virtualHosts, caches.bareRoutes, both, form, routes);
    if (like && inherits) this.#base = like.#base;
    const hosts = new Set([...reader.scope.hosts(), ...like ? like.#clusters.units.keys() : []]);
    this.#update(
      { clusters: hosts, assignments: hosts, virtualHosts: hosts, contributions: hosts, bareRoutes: true },
      inherits,
    );
  }

  /** Whether a proxy may join. */
  fits(properties: ProxyProperties): boolean {
    return this.#questions.fits(properties);
  }

  /** Questions that came since the last call: a member that answers one of them differently belongs elsewhere. */
  takeFreshQuestions(): readonly PropertyQuestion[] {
    return this.#questions.takeFresh();
  }

  /** Looks again at what a change touched. */
  update(dirty: DirtyUnits): void {
    this.#update({ ...dirty, bareRoutes: dirty.bareRoutes.size > 0 });
  }

  #update(
    dirty: { [K in "clusters" | "assignments" | "virtualHosts" | "contributions"]: Iterable<string> } & {
      bareRoutes: boolean;
    },
    keeps = true,
  ) {
    const { reader } = this;
    const exists = (host: string) => reader.exists(host);
    // Units that failed are dropped with every change, so each update meets all that still do.
    this.failing = false;
    const onUnit = (unit: Unit<unknown>) => this.#met(unit);
    this.#clusters.update(dirty.clusters, reader, exists, onUnit, keeps);
    this.#assignments.update(dirty.assignments, reader, exists, onUnit, keeps);
    this.#routes.update(dirty.virtualHosts, reader, exists, onUnit, dirty.bareRoutes, keeps);
    this.#listeners.update(dirty.contributions, reader, exists, onUnit, keeps);
    const base = this.#caches.base.get("", reader);
    onUnit(base);
    if (!base.failed || this.#base === undefined) this.#base = base.value;
  }

  #met(unit: Unit<unknown>): void {
    this.#questions.add(unit.trace);
    this.failing ||= unit.failed === true;
  }

  /** The shared resources. Each set is the same object while nothing in it changed. */
  get sets(): SharedSets {
    return {
      clusters: this.#clusters.set,
      baseClusters: this.#base.clusters,
      baseListeners: this.#base.listeners,
      assignments: this.#assignments.set,
      listeners: this.#listeners.set,
      routes: this.#routes.set,
    };
  }

  /** The virtual hosts that a route configuration gets by VHDS. */
  virtualHosts(routeConfiguration: string): ResourceSet {
    return this.#routes.virtualHosts(routeConfiguration);
  }

  /** Ports of hosts that lost a conflict, and to which. */
  conflicts(): Iterable<readonly ListenerConflict[]> {
    return this.#listeners.conflicts();
  }

  warnings(): Iterable<Warning> {
    return this.#routes.warnings();
  }
}

/** A class of gateways: what they share are clusters and endpoints. */
export class RouterClass implements ProxyClass {
  readonly type = "router";
  readonly scope: Scope;
  readonly reader: ScopeReader;
  readonly #caches: Caches;
  readonly #questions = new Questions();
  readonly #clusters: HostResources;
  readonly #assignments: HostResources;
  /** Hosts that it gets clusters of; undefined: all that it sees. */
  #needed: ReadonlySet<string> | undefined;
  #base!: ResourceSet;
  failing = false;

  /** @param from The class that its proxies come from: where a builder throws, what they have stays in force. */
  constructor(reader: ScopeReader, caches: Caches, from?: RouterClass) {
    this.scope = reader.scope;
    this.reader = reader;
    this.#caches = caches;
    this.#questions.add(formQuestions(reader));
    this.#clusters = new HostResources(caches.clusters, caches.empty, from ? from.#clusters : undefined);
    this.#assignments = new HostResources(caches.assignments, caches.empty, from ? from.#assignments : undefined);
    if (from) {
      this.#needed = from.#needed;
      this.#base = from.#base;
    }
    const hosts = new Set([...reader.scope.hosts(), ...from ? from.#clusters.units.keys() : []]);
    this.#update(hosts, hosts);
  }

  get sets(): SharedSets {
    const { empty } = this.#caches;
    return {
      clusters: this.#clusters.set,
      baseClusters: this.#base,
      baseListeners: empty,
      assignments: this.#assignments.set,
      listeners: empty,
      routes: empty,
    };
  }

  fits(properties: ProxyProperties): boolean {
    return this.#questions.fits(properties);
  }

  takeFreshQuestions(): readonly PropertyQuestion[] {
    return this.#questions.takeFresh();
  }

  update(dirty: DirtyUnits): void {
    this.#update(dirty.clusters, dirty.assignments);
  }

  #update(clusters: Iterable<string>, assignments: Iterable<string>): void {
    const { reader } = this;
    this.failing = false;
    const onUnit = (unit: Unit<unknown>) => this.#met(unit);
    const before = this.#needed;
    const needed = this.#caches.gatewayHosts.get("", reader);
    onUnit(needed);
    if (!needed.failed) this.#needed = needed.value;
    const moved = before === this.#needed ? [] : [...before ?? [], ...this.#needed ?? []];
    const exists = (host: string) => (this.#needed?.has(host) ?? true) && reader.exists(host);
    this.#clusters.update(new Set([...clusters, ...moved]), reader, exists, onUnit);
    this.#assignments.update(new Set([...assignments, ...moved]), reader, exists, onUnit);
    const base = this.#caches.base.get("", reader);
    onUnit(base);
    if (!base.failed || this.#base === undefined) this.#base = base.value.clusters;
  }

  #met(unit: Unit<unknown>): void {
    this.#questions.add(unit.trace);
    this.failing ||= unit.failed === true;
  }

  virtualHosts(_routeConfiguration: string): ResourceSet {
    return this.#caches.empty;
  }

  conflicts(): Iterable<readonly ListenerConflict[]> {
    return [];
  }

  warnings(): Iterable<Warning> {
    return [];
  }
}

/**
 * The class that a proxy founds where no known one fits.
 *
 * @param like Another class, to begin as a copy of.
 * @param before The class that the proxy leaves: where a builder throws, what the proxy has stays in force.
 */
export function makeClass(
  reader: ScopeReader,
  caches: Caches,
  like: ProxyClass | undefined,
  before: ProxyClass | undefined,
): ProxyClass {
  if (reader.properties.type === "router") {
    const made = new RouterClass(reader, caches);
    return made.failing && before instanceof RouterClass ? new RouterClass(reader, caches, before) : made;
  }
  const model = like instanceof SidecarClass ? { like, inherits: false } : {};
  const made = new SidecarClass(reader, caches, model);
  if (!made.failing || !(before instanceof SidecarClass)) return made;
  return new SidecarClass(reader, caches, { like: before, inherits: true });
}
