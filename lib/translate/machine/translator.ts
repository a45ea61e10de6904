/**
 * From changes of the mesh to the resources of every connected proxy.
 *
 *     change ─> mesh ─> affected keys ─> stale results dropped ─> groups look again ─> sets of resources
 *                                                                      └─ proxies ask for theirs by type
 *
 * Work is done once for each group of proxies and each stale result, independent of the number of proxies.
 *
 * @module
 */
import type { InvalidatedKeys } from "../../incremental/keys.ts";
import type { IsChanged } from "../../incremental/properties.ts";
import { type AffectedKeys, WORKLOAD_KEY } from "../../mesh/affected.ts";
import type { Mesh, MeshChange } from "../../mesh/mesh.ts";
import { Scope } from "../../mesh/scope.ts";
import type { SelectableWorkload } from "../../mesh/selection/index.ts";
import type { ServiceTarget } from "../../registry/inbound.ts";
import type { ResourceSet, ResourceTable } from "../../resource/set.ts";
import { Caches, type CacheSwitches } from "./cache/caches.ts";
import { fillForHosts } from "./cache/translation_cache.ts";
import { type ListenerConflict, listenerFinding } from "../listener/conflict.ts";
import { meshFindings } from "../message/mesh_findings.ts";
import type { Finding } from "../../finding/finding.ts";
import { distinctFindings } from "../message/finding.ts";
import { findingsAmong, outcomesAmong, presentNotes, type TranslationNote } from "../message/notes.ts";
import { rejectionFindings } from "../patches/rejected.ts";
import type { PatchOutcome } from "../../patches/types.ts";
import { NameTables } from "./name_table/tables.ts";
import { type ForkContent, type MeshView, MeshViews } from "../reader/mesh_views.ts";
import { isStandIn, readingAgain } from "../proxy/stand_in.ts";
import { ProxyState, StatesByAddress } from "./per_proxy/proxy_state.ts";
import { completed, withCandidates, type WorkloadFacts } from "../proxy/completed.ts";
import type { Proxy } from "../proxy/node.ts";
import { ProxyClasses } from "./proxy_class/classes.ts";
import { distinctConflicts } from "./proxy_class/listeners.ts";
import type { ProxyClass } from "./proxy_class/proxy_class.ts";
import { BUILD, type BuildFailed } from "./results/row.ts";
import { type ResultRows, RESULTS } from "./results/table.ts";
import { profileOf, PROXY_TYPES, type ProxyType } from "../reader/proxy_profile.ts";
import type { ProxyProperties } from "../reader/proxy_properties.ts";
import { ScopeReader } from "../reader/scope_reader.ts";
import { ownRole, waypointName } from "../reader/waypoint_role.ts";
import type { TranslateSettings } from "../reader/settings.ts";

/** The inputs of a translator. */
export interface TranslatorOptions {
  readonly mesh: Mesh;
  readonly settings: TranslateSettings;
  readonly table: ResourceTable;
  readonly caches: CacheSwitches;
  /** The kinds of results. Default: the kinds of the product. */
  readonly results?: ResultRows;
  readonly failed: BuildFailed;
  /** The services at a proxy's addresses, the oldest first. */
  readonly targetsOf: (proxy: Proxy) => readonly ServiceTarget[];
  /** Objects that only some proxies have. Default: there are none. */
  readonly candidates?: StagedCandidates | undefined;
  /** The registries' facts about a proxy's workload. Default: no facts. */
  readonly knownOf?: (proxy: Proxy) => WorkloadFacts | undefined;
}

/** Objects of which only some proxies have the newest version, the candidate. */
export interface StagedCandidates {
  /** The name of a proxy's set of candidates. Undefined: the proxy has only settled objects. */
  of(proxy: Proxy): string | undefined;
  /** The objects of a set of candidates. */
  fork(name: string): ForkContent;
}

/** The fewest hosts for a preparation in steps. With fewer hosts the first proxy takes at most some 100 ms. */
const PREPARED_FROM = 300;

/** Keeps every connected proxy's resources up to date. */
export class Translator {
  readonly mesh: Mesh;
  readonly caches: Caches;
  readonly #options: TranslatorOptions;
  readonly #classes: ReadonlyMap<ProxyType, ProxyClasses>;
  readonly #names: NameTables<ProxyState>;
  readonly #views: MeshViews;
  readonly #proxies = new Set<ProxyState>();
  readonly #byAddress = new StatesByAddress();
  /** Types of proxies whose results were prepared before their first proxy; `names`: the DNS table was prepared. */
  readonly #prepared = new Set<ProxyType | "names">();

  constructor(options: TranslatorOptions) {
    this.mesh = options.mesh;
    this.#options = options;
    this.#views = new MeshViews(options.mesh);
    this.caches = new Caches(options.results ?? RESULTS, options.table, options.caches, options.failed);
    this.#classes = new Map(PROXY_TYPES.map((type) => [type, new ProxyClasses(type, this.caches)]));
    this.#names = new NameTables(this.caches, ({ proxy }) => this.#sourceFor(proxy));
  }

  /** Number of kept classes, and of proxies. */
  get counts(): { readonly classes: number; readonly proxies: number } {
    let classes = 0;
    for (const { size } of this.#classes.values()) classes += size;
    return { classes, proxies: [...this.proxies()].length };
  }

  /** Ports of hosts that lost a conflict, each with the winner. Each conflict is listed once for all proxies. */
  conflicts(): ListenerConflict[] {
    return distinctConflicts([...this.#classes.values()].flatMap((classes) => [...classes.groups("listeners")]));
  }

  /**
   * Settings that have no effect as written, each once. The cost grows with the number of findings, groups and proxies.
   */
  warnings(): Finding[] {
    const conflicts = this.conflicts().map(listenerFinding);
    return distinctFindings([...meshFindings(this.mesh), ...conflicts, ...findingsAmong(this.#notes())]);
  }

  /** Outcomes of the patches of ProxyFilters at each matching place. Costs as much as the warnings. */
  patchOutcomes(): Iterable<PatchOutcome> {
    return outcomesAmong(this.#notes());
  }

  #notes(): Iterable<TranslationNote> {
    return presentNotes(this.#allNotes(), this.mesh.proxyFilters);
  }

  *#allNotes(): Iterable<TranslationNote> {
    yield* this.caches.notes();
    for (const classes of this.#classes.values()) yield* classes.notes();
    for (const { perProxy } of this.#proxies) yield* perProxy?.notes() ?? [];
    yield* rejectionFindings(this.#proxies);
  }

  *proxies(): Iterable<ProxyState> {
    for (const state of this.#proxies) if (!isStandIn(state.proxy)) yield state;
  }

  /** The selectable properties of each connected proxy's workload. */
  *workloads(): Iterable<SelectableWorkload> {
    for (const { proxy: { namespace, properties } } of this.proxies()) yield { namespace, labels: properties.labels };
  }

  /** The DNS table of a proxy's agent: a set with just the table, the same object until an entry changes. */
  nameTable(state: ProxyState): ResourceSet {
    return this.#names.of(state).set;
  }

  /** Whether a builder threw for entries of a proxy's table. */
  lacksNames(state: ProxyState): boolean {
    return this.#names.isFailing(state);
  }

  /** Number of kept DNS tables. */
  get nameTables(): number {
    return this.#names.size;
  }

  /**
   * The steps that take over all proxies of another translator. Until the last step the proxies keep their results and
   * belong to the other translator; then all proxies move at once.
   *
   * @param read Reads a proxy's properties again. Some properties have a default in the mesh configuration.
   */
  *adopt(other: Translator, read: (proxy: Proxy) => Proxy): Generator<void, void> {
    const readAgain = readingAgain(read);
    const drafts = new Map<ProxyState, ProxyState>();
    for (const state of [...other.#proxies]) {
      const draft = state.copy();
      yield* this.prepare(readAgain(draft.proxy)) ?? [];
      this.#take(draft, readAgain);
      drafts.set(state, draft);
      yield;
    }
    for (const draft of drafts.values()) this.leave(draft);
    for (const state of [...other.#proxies]) {
      other.leave(state);
      const draft = drafts.get(state);
      if (draft === undefined) {
        this.#take(state, readAgain);
      } else {
        state.become(draft);
        this.#enter(state);
      }
    }
  }

  #take(state: ProxyState, readAgain: (proxy: Proxy) => Proxy): void {
    state.proxy = this.#completed(readAgain(state.proxy));
    state.proxyClass = this.#classFor(state.proxy, state.proxyClass);
    this.#add(state);
  }

  /**
   * The steps that build the shared results of a type's first proxy, so that the proxy joins quickly; likewise the
   * names for the first agent with a question. Undefined: there is such a proxy, the steps were begun earlier, or there
   * is little to build.
   */
  prepare(proxy: Proxy): Generator<void, void> | undefined {
    const { type } = proxy.properties;
    const profile = profileOf(type);
    const results = !this.#prepared.has(type) && this.#classes.get(type)!.size === 0 && profile.outbound;
    const table = !this.#prepared.has("names") && this.#names.size === 0 && proxy.asksNames;
    if (!results && !table) return undefined;
    const source = this.#sourceFor(proxy);
    const hosts = [...source.hosts()];
    if (hosts.length < PREPARED_FROM) return undefined;
    if (results) this.#prepared.add(type);
    if (table) this.#prepared.add("names");
    const caches = [...results ? this.caches.filledFor(profile) : [], ...table ? [this.caches.of.names] : []];
    return fillForHosts(caches, source, hosts);
  }

  /** The steps that build the results of a stand-in proxy, so that the stand-in joins quickly. */
  prepareStandIn(proxy: Proxy): Generator<void, void> {
    const source = this.#sourceFor(proxy);
    return fillForHosts(this.caches.filledFor(profileOf(proxy.properties.type)), source, [...source.hosts()]);
  }

  /** Adds a proxy, with all resources. */
  join(proxy: Proxy): ProxyState {
    const whole = this.#completed(proxy);
    const state = new ProxyState(whole, this.#classFor(whole));
    this.#add(state);
    return state;
  }

  #add(state: ProxyState): void {
    this.#enter(state);
    this.#refresh(state);
  }

  #enter(state: ProxyState): void {
    this.#proxies.add(state);
    this.#byAddress.add(state);
  }

  /** Removes a proxy. The class stays until the next sweep, in case the proxy returns. */
  leave(state: ProxyState): void {
    this.#proxies.delete(state);
    this.#names.leave(state);
    this.#byAddress.delete(state);
  }

  /** Applies a change; afterwards every set matches the mesh. */
  apply(change: MeshChange, addresses: ReadonlySet<string> = new Set()): AffectedKeys {
    const affected = this.mesh.apply(change);
    const { things, workloads } = affected;
    const stale = this.caches.invalidate(affected);
    if (workloads.hasAny(WORKLOAD_KEY.patches)) this.#views.renewPatches();
    const moves = workloads.hasAny(WORKLOAD_KEY.scope);
    const isChanged = workloads.empty ? undefined : changedIn(workloads);
    const concerned = this.#dropChanged(workloads, isChanged);
    for (const classes of this.#classes.values()) {
      // Vanished scopes are not kept up to date.
      if (moves) classes.drop(({ scope }) => !this.mesh.hasScope(scope));
      classes.update(stale);
      if (moves || classes.asksMore) concerned.add(classes);
    }
    this.#names.update(
      stale,
      moves ? (view) => !(view instanceof Scope && this.mesh.hasScope(view)) : undefined,
      this.#names.dependsOn((kind) => workloads.hasAny(kind)) ? isChanged : undefined,
    );
    this.#completeAt(addresses);
    const moved = this.#reclassify(concerned, isChanged);
    for (const state of this.#byAddress.at(addresses)) moved.add(state);
    for (const state of this.#proxies) if (state.isStale(things, isChanged)) moved.add(state);
    for (const state of moved) this.#refresh(state);
    return affected;
  }

  /**
   * Drops groups whose source answers differently after a change of facts about workloads.
   *
   * @returns The classes with queries about the changed facts.
   */
  #dropChanged(workloads: InvalidatedKeys, isChanged: IsChanged<ProxyProperties> | undefined): Set<ProxyClasses> {
    const asking = new Set<ProxyClasses>();
    if (isChanged === undefined) return asking;
    for (const classes of this.#classes.values()) {
      if (!classes.dependsOn((kind) => workloads.hasAny(kind))) continue;
      asking.add(classes);
      classes.dropChanged(isChanged);
    }
    return asking;
  }

  /** Drops unused classes and results. Call it regularly. */
  sweep(): void {
    this.#prepared.clear();
    const used = new Set<ProxyClass>();
    for (const { proxyClass } of this.#proxies) used.add(proxyClass);
    for (const classes of this.#classes.values()) classes.drop((proxyClass) => !used.has(proxyClass));
    this.#names.sweep();
    this.caches.sweep(this.#resultsInUse());
    this.mesh.keepScopes(new Set([...this.#proxies].map(({ proxy }) => proxy.namespace)));
  }

  /** Policies without targets hold at waypoints, too (`ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES`). */
  get layersPolicies(): boolean {
    return this.#options.settings.layersPolicies;
  }

  *#resultsInUse() {
    for (const classes of this.#classes.values()) yield* classes.results();
    yield* this.#names.results();
    for (const { perProxy } of this.#proxies) yield* perProxy?.results ?? [];
  }

  #completed(proxy: Proxy): Proxy {
    const { candidates, knownOf } = this.#options;
    return withCandidates(completed(proxy, knownOf?.(proxy)), candidates?.of(proxy));
  }

  /**
   * Moves every proxy to the view of its present candidates. Views without a proxy go.
   *
   * @returns Whether a proxy was moved.
   */
  stage(): boolean {
    const used = new Set<string>();
    let moved = false;
    for (const state of this.#proxies) {
      const candidates = this.#options.candidates?.of(state.proxy);
      if (candidates !== undefined) used.add(candidates);
      if (state.proxy.properties.candidates === candidates) continue;
      moved = true;
      this.#names.leave(state);
      state.proxy = this.#completed(state.proxy);
      state.proxyClass = this.#classFor(state.proxy, state.proxyClass);
      this.#refresh(state);
    }
    const unused = [...this.#views.names].filter((name) => !used.has(name));
    if (unused.length === 0) return moved;
    for (const name of unused) this.#views.drop(name);
    for (const classes of this.#classes.values()) classes.drop(({ scope }) => !this.mesh.hasScope(scope));
    this.#names.update(new Map(), (view) => !(view instanceof Scope && this.mesh.hasScope(view)), undefined);
    return moved;
  }

  /** Whether some proxies have candidates. */
  get hasForks(): boolean {
    return [...this.#views.names].length > 0;
  }

  /** The mesh as a proxy sees it, with the candidates of the proxy. */
  meshOf({ proxy: { properties: { candidates } } }: ProxyState): Mesh {
    return this.#viewOf(candidates).mesh;
  }

  #viewOf(candidates: string | undefined): MeshView {
    if (candidates !== undefined && !this.#views.has(candidates)) {
      this.#views.add(candidates, this.#options.candidates!.fork(candidates));
    }
    return this.#views.of(candidates);
  }

  /** Applies changed facts of registries about the workloads at addresses. */
  #completeAt(addresses: ReadonlySet<string>): void {
    for (const state of this.#byAddress.at(addresses)) {
      const { proxy } = state;
      state.proxy = this.#completed(proxy);
      if (state.proxy === proxy) continue;
      this.#names.leave(state);
      state.proxyClass = this.#classFor(state.proxy, state.proxyClass);
    }
  }

  #sourceFor({ namespace, properties: written }: Proxy): ScopeReader {
    const { sidecarsApply, waypoint } = profileOf(written.type);
    const labels = sidecarsApply ? written.labels : undefined;
    const properties = waypoint ? ownRole(written, this.mesh.waypoint(waypointName(written))) : written;
    const { mesh, patches } = this.#viewOf(written.candidates);
    return new ScopeReader(patches, mesh.scope(namespace, labels), properties, this.#options.settings, this.#views);
  }

  /** @param before The former class of the proxy. */
  #classFor(proxy: Proxy, before?: ProxyClass): ProxyClass {
    return this.#classes.get(proxy.properties.type)!.find(this.#sourceFor(proxy), before);
  }

  /**
   * Finds new classes for proxies whose classes have other answers now.
   *
   * @returns The proxies whose scope changed.
   */
  #reclassify(concerned: ReadonlySet<ProxyClasses>, isChanged: IsChanged<ProxyProperties> | undefined) {
    const moved = new Set<ProxyState>();
    for (const state of concerned.size > 0 ? this.#proxies : []) {
      const { proxy, proxyClass } = state;
      const classes = this.#classes.get(proxyClass.type)!;
      if (!concerned.has(classes)) continue;
      const source = this.#sourceFor(proxy);
      if (source.scope !== proxyClass.scope) moved.add(state);
      else if (classes.holds(proxyClass, source, isChanged)) continue;
      state.proxyClass = classes.find(source, proxyClass);
    }
    return moved;
  }

  #refresh(state: ProxyState): void {
    try {
      state.setServices(this.#sourceFor(state.proxy), this.#options.targetsOf(state.proxy), this.caches);
    } catch (error) {
      // The per-proxy resources stay unchanged; other proxies go on.
      this.#options.failed(BUILD.inbound, state.proxy.nodeId, error);
    }
  }
}

/** The changed facts about workloads, by kind and namespace. */
function changedIn(workloads: InvalidatedKeys): IsChanged<ProxyProperties> {
  return (kind, { namespace, policyNamespaces }) =>
    workloads.has(kind, namespace) || policyNamespaces?.some((one) => workloads.has(kind, one)) === true;
}
