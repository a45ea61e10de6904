/**
 * All classes of proxies of one type, and the groups of results that they share.
 *
 * @module
 */
import { GroupPool, type ResultGroup } from "../../../incremental/groups.ts";
import type { Caches, StaleResults } from "../cache/caches.ts";
import type { BaseSets } from "../cache/sets.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import type { ExtensionSets } from "../../extension/extensions.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { MeshAnswers } from "../../reader/mesh_answers.ts";
import { profileOf, type ProxyType } from "../../reader/proxy_profile.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import { HostResources, type HostResourcesOptions } from "./host_resources.ts";
import { OutboundListeners } from "./listeners.ts";
import { type ClassGroups, type LibraryGroups, type PassedGroups, ProxyClass } from "./proxy_class.ts";
import { OutboundRoutes } from "./routes.ts";
import { SoleResult } from "./sole_result.ts";

/** Groups of results of each kind. */
interface Pools {
  readonly clusters: GroupPool<MeshAnswers, StaleResults, HostResources>;
  readonly assignments: GroupPool<MeshAnswers, StaleResults, HostResources>;
  readonly passedClusters: GroupPool<MeshAnswers, StaleResults, HostResources>;
  readonly passedAssignments: GroupPool<MeshAnswers, StaleResults, HostResources>;
  readonly base: GroupPool<MeshAnswers, StaleResults, SoleResult<BaseSets>>;
  readonly extensions: GroupPool<MeshAnswers, StaleResults, SoleResult<ExtensionSets>>;
  readonly listeners: GroupPool<MeshAnswers, StaleResults, OutboundListeners>;
  readonly routes: GroupPool<MeshAnswers, StaleResults, OutboundRoutes>;
  readonly libraryListeners: GroupPool<MeshAnswers, StaleResults, HostResources>;
  readonly libraryRoutes: GroupPool<MeshAnswers, StaleResults, HostResources>;
}

/** A group of results of any kind. */
interface AnyGroup extends ResultGroup<MeshAnswers, StaleResults> {
  results(): Iterable<TranslationResult<unknown>>;
}

/** The operations on pools of all kinds. */
interface AnyPool extends Iterable<AnyGroup> {
  readonly asksMore: boolean;
  update(stale: StaleResults): void;
  drop(isDropped: (group: AnyGroup) => boolean): void;
}

function newPools(type: ProxyType, caches: Caches): Pools {
  const { gateways: ofGateways, library } = profileOf(type);
  const ofHosts = (options: HostResourcesOptions) =>
    new GroupPool<MeshAnswers, StaleResults, HostResources>((source, model) =>
      new HostResources(source, caches, options, model)
    );
  return {
    clusters: ofHosts({ pick: library ? (all) => all.library.clusters : (all) => all.clusters, ofGateways }),
    assignments: ofHosts({ pick: library ? (all) => all.library.assignments : (all) => all.assignments, ofGateways }),
    passedClusters: ofHosts({ pick: (all) => all.passedClusters, ofGateways: false }),
    passedAssignments: ofHosts({ pick: (all) => all.passedAssignments, ofGateways: false }),
    base: new GroupPool((source, model) => new SoleResult(source, caches.base, model)),
    extensions: new GroupPool((source, model) => new SoleResult(source, caches.extensions, model)),
    listeners: new GroupPool((source, model) => new OutboundListeners(source, caches, model)),
    routes: new GroupPool((source, model) => new OutboundRoutes(source, caches, model)),
    libraryListeners: ofHosts({ pick: (all) => all.library.listeners, ofGateways: false }),
    libraryRoutes: ofHosts({ pick: (all) => all.library.routes, ofGateways: false }),
  };
}

/** Classes of proxies of one type. */
export class ProxyClasses {
  readonly #type: ProxyType;
  readonly #caches: Caches;
  readonly #pools: Pools;
  readonly #allPools: readonly AnyPool[];
  readonly #classes = new Set<ProxyClass>();

  constructor(type: ProxyType, caches: Caches) {
    this.#type = type;
    this.#caches = caches;
    this.#pools = newPools(type, caches);
    this.#allPools = Object.values(this.#pools);
  }

  /** How many there are. */
  get size(): number {
    return this.#classes.size;
  }

  /** The groups of outbound listeners. */
  get listeners(): Iterable<OutboundListeners> {
    return this.#pools.listeners;
  }

  /**
   * The class of a proxy; made where there is none.
   *
   * @param before The class that the proxy leaves: where a builder throws, the results of that class stay in force.
   */
  find(source: ScopeReader, before?: ProxyClass): ProxyClass {
    const groups = this.#groups(source, before?.groups);
    for (const known of this.#classes) {
      if (known.scope === source.scope && sameGroups(known.groups, groups)) return known;
    }
    const made = new ProxyClass(this.#type, source.scope, groups, this.#caches.empty);
    this.#classes.add(made);
    return made;
  }

  #groups(source: MeshAnswers, before: ClassGroups | undefined): ClassGroups {
    const { clusters, assignments, base, extensions, listeners, routes } = this.#pools;
    return {
      clusters: clusters.find(source, before?.clusters),
      assignments: assignments.find(source, before?.assignments),
      base: base.find(source, before?.base),
      extensions: extensions.find(source, before?.extensions),
      ...this.#passed(source, before?.passed),
      ...(profileOf(this.#type).outbound
        ? { listeners: listeners.find(source, before?.listeners), routes: routes.find(source, before?.routes) }
        : {}),
      ...(profileOf(this.#type).library ? { library: this.#library(source, before?.library) } : {}),
    };
  }

  #library(source: MeshAnswers, before: LibraryGroups | undefined): LibraryGroups {
    const { libraryListeners, libraryRoutes } = this.#pools;
    return {
      listeners: libraryListeners.find(source, before?.listeners),
      routes: libraryRoutes.find(source, before?.routes),
    };
  }

  #passed(source: MeshAnswers, before: PassedGroups | undefined): Pick<ClassGroups, "passed"> {
    if (!this.#passes(source)) return {};
    const clusters = this.#pools.passedClusters.find(source, before?.clusters);
    return { passed: { clusters, assignments: this.#pools.passedAssignments.find(source, before?.assignments) } };
  }

  #passes(source: MeshAnswers): boolean {
    return profileOf(this.#type).gateways && source.passedHostsOf(source.properties).length > 0;
  }

  /** Brings all groups up to date. */
  update(stale: StaleResults): void {
    for (const pool of this.#allPools) pool.update(stale);
  }

  /** Whether proxies may belong to other classes since the last update. */
  get asksMore(): boolean {
    return this.#allPools.some((pool) => pool.asksMore);
  }

  /** Whether a proxy of a class still belongs there after the last update. */
  holds({ groups }: ProxyClass, source: MeshAnswers): boolean {
    const { clusters, assignments, passedClusters, passedAssignments, base, extensions, listeners, routes } =
      this.#pools;
    const { passed, library } = groups;
    if (library && !this.#pools.libraryListeners.holds(library.listeners, source)) return false;
    if (library && !this.#pools.libraryRoutes.holds(library.routes, source)) return false;
    if (this.#passes(source) !== (passed !== undefined)) return false;
    if (passed && !passedClusters.holds(passed.clusters, source)) return false;
    if (passed && !passedAssignments.holds(passed.assignments, source)) return false;
    return clusters.holds(groups.clusters, source) && assignments.holds(groups.assignments, source) &&
      base.holds(groups.base, source) && extensions.holds(groups.extensions, source) &&
      (!groups.listeners || listeners.holds(groups.listeners, source)) &&
      (!groups.routes || routes.holds(groups.routes, source));
  }

  /** Drops the groups whose results asked for a property whose answers changed for all. */
  forget(property: string): void {
    for (const pool of this.#allPools) pool.drop(({ asked }) => asked.has(property));
    for (const known of this.#classes) if (known.groups.clusters.asked.has(property)) this.#classes.delete(known);
  }

  /** Drops the groups whose own source now answers otherwise to the questions of their results about its properties. */
  forgetChanged(): void {
    for (const pool of this.#allPools) pool.drop(({ asked, source }) => !asked.fits(source.properties));
  }

  /** Drops classes, and groups that no class uses any more. */
  drop(isDropped: (proxyClass: ProxyClass) => boolean): void {
    const used = new Set<object>();
    for (const known of this.#classes) {
      if (isDropped(known)) this.#classes.delete(known);
      else for (const group of groupsOf(known.groups)) used.add(group);
    }
    for (const pool of this.#allPools) pool.drop((group) => !used.has(group));
  }

  /**
   * Settings that are not in force because of other objects, beside conflicts of listeners; and the outcomes of
   * patches.
   */
  *notes(): Iterable<TranslationNote> {
    for (const group of this.#pools.routes) yield* group.warnings();
    for (const group of this.#pools.extensions) {
      for (const { notes } of group.results()) yield* notes ?? [];
    }
  }

  /** The results in use. */
  *results(): Iterable<TranslationResult<unknown>> {
    for (const pool of this.#allPools) for (const group of pool) yield* group.results();
  }
}

function* groupsOf({ passed, library, ...groups }: ClassGroups): Iterable<object> {
  yield* Object.values(groups);
  if (library !== undefined) yield* Object.values(library);
  if (passed !== undefined) yield* Object.values(passed);
}

function sameGroups(a: ClassGroups, b: ClassGroups): boolean {
  return a.clusters === b.clusters && a.assignments === b.assignments && a.base === b.base &&
    a.passed?.clusters === b.passed?.clusters && a.passed?.assignments === b.passed?.assignments &&
    a.library?.listeners === b.library?.listeners && a.library?.routes === b.library?.routes &&
    a.extensions === b.extensions && a.listeners === b.listeners && a.routes === b.routes;
}
