/**
 * From changes of the mesh to the resources of every connected proxy.
 *
 *     change ─> mesh ─> affected keys ─> stale results dropped ─> groups look again ─> sets of resources
 *                                                                      └─ proxies ask theirs by type
 *
 * Work is done once for each group of proxies and each stale result, independent of the number of proxies.
 *
 * @module
 */
import type { AffectedKeys, Mesh, MeshChange } from "../../mesh/mesh.ts";
import { Scope } from "../../mesh/scope.ts";
import type { SelectableWorkload } from "../../mesh/selection/index.ts";
import type { ServiceTarget } from "../../registry/inbound.ts";
import type { ResourceSet, ResourceTable } from "../../resource/set.ts";
import { Caches, type CacheSwitches, type StaleResults } from "./cache/caches.ts";
import { fillForHosts } from "./cache/translation_cache.ts";
import { concernedByKind, concernedByPolicies, isIn } from "./concerned.ts";
import { type ListenerConflict, listenerFinding } from "../listener/conflict.ts";
import { meshFindings } from "../message/mesh_findings.ts";
import type { Finding } from "../../finding/finding.ts";
import { gatheredNotes } from "./gathered_notes.ts";
import { distinctFindings } from "../message/finding.ts";
import { findingsAmong, outcomesAmong, type TranslationNote } from "../message/notes.ts";
import type { PatchOutcome } from "../../patches/types.ts";
import { NameTables } from "./name_table/tables.ts";
import { PatchSelection } from "../reader/patch_selection.ts";
import { StatesByAddress } from "./per_proxy/by_address.ts";
import { isStandIn, readingAgain } from "../proxy/stand_in.ts";
import { ProxyState } from "./per_proxy/proxy_state.ts";
import { completed, type WorkloadFacts } from "../proxy/completed.ts";
import type { Proxy } from "../proxy/node.ts";
import { ProxyClasses } from "./proxy_class/classes.ts";
import { distinctConflicts } from "./proxy_class/listeners.ts";
import type { ProxyClass } from "./proxy_class/proxy_class.ts";
import { BUILD, type BuildFailed } from "./results/row.ts";
import { type ResultRows, RESULTS } from "./results/table.ts";
import { profileOf, PROXY_TYPES, type ProxyType } from "../reader/proxy_profile.ts";
import { TOKEN_POLICY } from "../reader/recording_reader.ts";
import { ScopeReader } from "../reader/scope_reader.ts";
import type { TranslateSettings } from "../reader/settings.ts";

/** The inputs of a translator. */
export interface TranslatorOptions {
  readonly mesh: Mesh;
  readonly settings: TranslateSettings;
  readonly table: ResourceTable;
  readonly caches: CacheSwitches;
  /** The kinds of results. Default: those of the product. */
  readonly results?: ResultRows;
  readonly failed: BuildFailed;
  /** The services at a proxy's addresses, the oldest first. */
  readonly targetsOf: (proxy: Proxy) => readonly ServiceTarget[];
  /** What registries know of a proxy's workload. Default: nothing. */
  readonly knownOf?: (proxy: Proxy) => WorkloadFacts | undefined;
}

/** Hosts from which on the first proxy is prepared in steps: fewer take some 100 ms at once. */
const PREPARED_FROM = 300;

/** Keeps every connected proxy's resources up to date. */
export class Translator {
  readonly mesh: Mesh;
  readonly caches: Caches;
  readonly #options: TranslatorOptions;
  readonly #classes: ReadonlyMap<ProxyType, ProxyClasses>;
  readonly #names: NameTables<ProxyState>;
  readonly #patches: PatchSelection;
  readonly #proxies = new Set<ProxyState>();
  readonly #byAddress = new StatesByAddress();
  /** Types of proxies whose results are built, or being built, before the first one is added; likewise the DNS table. */
  readonly #prepared = new Set<ProxyType | "names">();

  constructor(options: TranslatorOptions) {
    this.mesh = options.mesh;
    this.#options = options;
    this.#patches = new PatchSelection(options.mesh);
    this.caches = new Caches(options.results ?? RESULTS, options.table, options.caches, options.failed);
    this.#classes = new Map(PROXY_TYPES.map((type) => [type, new ProxyClasses(type, this.caches)]));
    this.#names = new NameTables(this.caches, ({ proxy }) => this.#sourceFor(proxy));
  }

  /** Number of classes that are kept, and of proxies in them. */
  get counts(): { readonly classes: number; readonly proxies: number } {
    let classes = 0;
    for (const { size } of this.#classes.values()) classes += size;
    return { classes, proxies: [...this.proxies()].length };
  }

  /** Ports of hosts that lost a conflict, and to which; each once, however many proxies have it. */
  conflicts(): ListenerConflict[] {
    return distinctConflicts([...this.#classes.values()].flatMap((classes) => [...classes.groups("listeners")]));
  }

  /** Settings that are not in force as written, each once. Costs the findings, and a look at each group and proxy. */
  warnings(): Finding[] {
    const conflicts = this.conflicts().map(listenerFinding);
    return distinctFindings([...meshFindings(this.mesh), ...conflicts, ...findingsAmong(this.#notes())]);
  }

  /** Outcomes of the patches of ProxyFilters at each place where they matched. Costs as much as the warnings. */
  patchOutcomes(): Iterable<PatchOutcome> {
    return outcomesAmong(this.#notes());
  }

  #notes(): Iterable<TranslationNote> {
    const { mesh, caches } = this;
    return gatheredNotes({ mesh, caches, classes: this.#classes.values(), states: this.#proxies });
  }

  *proxies(): Iterable<ProxyState> {
    for (const state of this.#proxies) if (!isStandIn(state.proxy)) yield state;
  }

  /** The properties that objects select workloads by, for each connected proxy. */
  *workloads(): Iterable<SelectableWorkload> {
    for (const { proxy: { namespace, properties } } of this.proxies()) yield { namespace, labels: properties.labels };
  }

  /** The DNS table of a proxy's agent: one set with one resource, the same object while it does not change. */
  nameTable(state: ProxyState): ResourceSet {
    return this.#names.of(state).set;
  }

  /** Whether entries of a table that a proxy's agent has asked for could not be made. */
  lacksNames(state: ProxyState): boolean {
    return this.#names.isFailing(state);
  }

  /** Number of DNS tables that are kept. */
  get nameTables(): number {
    return this.#names.size;
  }

  /**
   * The steps that take over all proxies of another translator. Until the last one those keep their results, and belong
   * to the other one; then all move at once.
   *
   * @param read Reads a proxy's properties again (some have their default in the mesh configuration).
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
   * The steps that build the results that the first proxy of a type shares with all that follow, so that adding it
   * takes long no more; likewise the names of the first proxy whose agent asks for them. Undefined: another proxy has
   * it, these steps were begun before, or there is little to build.
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

  /** The steps that build the results of a proxy that stands in for another, so that joining it takes long no more. */
  prepareStandIn(proxy: Proxy): Generator<void, void> {
    const source = this.#sourceFor(proxy);
    return fillForHosts(this.caches.filledFor(profileOf(proxy.properties.type)), source, [...source.hosts()]);
  }

  /** Adds a proxy; its resources are there when this returns. */
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

  /** Removes a proxy. Its class stays until the next sweep, in case it returns. */
  leave(state: ProxyState): void {
    this.#proxies.delete(state);
    this.#names.leave(state);
    this.#byAddress.delete(state);
  }

  /** Applies a change; afterwards every set matches the mesh. */
  apply(change: MeshChange, addresses: ReadonlySet<string> = new Set()): AffectedKeys {
    const affected = this.mesh.apply(change);
    const stale = this.caches.invalidate(affected);
    if (affected.patches.size > 0) this.#patches.renew();
    for (const classes of this.#classes.values()) {
      if (affected.gateways) classes.forget("gateways");
      if (affected.tokenPolicies.size > 0) classes.forget(TOKEN_POLICY);
      if (affected.gateways || concernedByKind(affected).size > 0) classes.forgetChanged();
      // Scopes that are gone are not kept up to date.
      if (affected.scopes.size > 0) classes.drop(({ scope }) => !this.mesh.hasScope(scope));
      classes.update(stale);
    }
    const moves = affected.scopes.size > 0;
    this.#names.update(stale, moves ? (view) => !(view instanceof Scope && this.mesh.hasScope(view)) : undefined);
    this.#completeAt(addresses);
    const moved = this.#reclassify(affected);
    for (const state of this.#stale(affected, stale, addresses)) moved.add(state);
    for (const state of moved) this.#refresh(state);
    return affected;
  }

  /** Drops classes and results that no proxy uses; to be called regularly. */
  sweep(): void {
    this.#prepared.clear();
    const used = new Set<ProxyClass>();
    for (const { proxyClass } of this.#proxies) used.add(proxyClass);
    for (const classes of this.#classes.values()) classes.drop((proxyClass) => !used.has(proxyClass));
    this.#names.sweep();
    this.caches.sweep(this.#resultsInUse());
    this.mesh.keepScopes(new Set([...this.#proxies].map(({ proxy }) => proxy.namespace)));
  }

  *#resultsInUse() {
    for (const classes of this.#classes.values()) yield* classes.results();
    yield* this.#names.results();
    for (const { perProxy } of this.#proxies) yield* perProxy?.results() ?? [];
  }

  #completed(proxy: Proxy): Proxy {
    return completed(proxy, this.#options.knownOf?.(proxy));
  }

  /** Registries know other things of what is at these addresses. */
  #completeAt(addresses: ReadonlySet<string>): void {
    for (const state of this.#byAddress.at(addresses)) {
      const { proxy } = state;
      state.proxy = this.#completed(proxy);
      if (state.proxy === proxy) continue;
      this.#names.leave(state);
      state.proxyClass = this.#classFor(state.proxy, state.proxyClass);
    }
  }

  #sourceFor({ namespace, properties }: Proxy): ScopeReader {
    const labels = profileOf(properties.type).sidecarsApply ? properties.labels : undefined;
    return new ScopeReader(this.#patches, this.mesh.scope(namespace, labels), properties, this.#options.settings);
  }

  /** @param before The class that the proxy leaves. */
  #classFor(proxy: Proxy, before?: ProxyClass): ProxyClass {
    return this.#classes.get(proxy.properties.type)!.find(this.#sourceFor(proxy), before);
  }

  /** Finds other classes for the proxies that belong elsewhere now; gives those whose scope is another one. */
  #reclassify(affected: AffectedKeys): Set<ProxyState> {
    const { scopes, gateways, tokenPolicies } = affected;
    const moved = new Set<ProxyState>();
    const asksMore = [...this.#classes.values()].some((classes) => classes.asksMore);
    const concerned = concernedByKind(affected);
    const changed = scopes.size > 0 || gateways || tokenPolicies.size > 0 || concerned.size > 0;
    if (!changed && !asksMore) return moved;
    for (const state of this.#proxies) {
      const { proxy, proxyClass } = state;
      const source = this.#sourceFor(proxy);
      const classes = this.#classes.get(proxyClass.type)!;
      if (source.scope !== proxyClass.scope) moved.add(state);
      else if (!isIn(concerned, proxy) && classes.holds(proxyClass, source)) continue;
      state.proxyClass = classes.find(source, proxyClass);
    }
    return moved;
  }

  /** Proxies whose per-proxy resources a change affects. */
  #stale(affected: AffectedKeys, { keys }: StaleResults, addresses: ReadonlySet<string>): Set<ProxyState> {
    const states = this.#byAddress.at(addresses);
    const policies = concernedByPolicies(affected);
    for (const state of this.#proxies) {
      if (isIn(policies, state.proxy)) states.add(state);
      else if (state.isStale(keys, affected.services)) states.add(state);
    }
    return states;
  }

  #refresh(state: ProxyState): void {
    try {
      state.setServices(this.#sourceFor(state.proxy), this.#options.targetsOf(state.proxy), this.caches);
    } catch (error) {
      // Its per-proxy resources stay as they were; the others go on.
      this.#options.failed(BUILD.inbound, state.proxy.nodeId, error);
    }
  }
}
