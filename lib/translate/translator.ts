/**
 * From changes of the mesh to the resources of every connected proxy.
 *
 *     change ─> mesh ─> what it affected ─> units dropped ─> classes look again ─> sets of resources
 *                                                               └─ proxies ask theirs by type
 *
 * Work is done once per class of proxies and affected unit, whatever the number of proxies.
 *
 * @module
 */
import type { AffectedKeys, Mesh, MeshChange } from "../mesh/mesh.ts";
import type { Scope } from "../mesh/scope.ts";
import type { SelectableWorkload } from "../mesh/selection/index.ts";
import type { ServiceTarget } from "../registry/inbound.ts";
import type { ResourceTable } from "../resource/set.ts";
import { type BuildFailed, Caches, type CacheSwitches, type DirtyUnits } from "./cache/caches.ts";
import { type ListenerConflict, listenerWarning } from "./listener/conflict.ts";
import { ProxyState } from "./per_proxy/proxy_state.ts";
import { makeClass, type ProxyClass } from "./proxy_class/proxy_class.ts";
import type { Proxy } from "./proxy/node.ts";
import type { TranslateSettings } from "./reader/settings.ts";
import { ScopeReader } from "./reader/scope_reader.ts";
import type { PropertyQuestion } from "./reader/read_record.ts";
import { meshWarnings } from "./message/mesh_warnings.ts";
import { distinctWarnings, type Warning } from "./message/warning.ts";

/** What a translator works with. */
export interface TranslatorOptions {
  readonly mesh: Mesh;
  readonly settings: TranslateSettings;
  readonly table: ResourceTable;
  readonly caches: CacheSwitches;
  readonly failed: BuildFailed;
  /** The services at a proxy's addresses, the oldest first. */
  readonly targetsOf: (proxy: Proxy) => readonly ServiceTarget[];
}

/** Keeps every connected proxy's resources up to date. */
export class Translator {
  readonly mesh: Mesh;
  readonly caches: Caches;
  readonly #options: TranslatorOptions;
  readonly #classes = new Map<Scope, Set<ProxyClass>>();
  /** What the next class begins as a copy of. */
  #latest: ProxyClass | undefined;
  /** Classes that were founded while builders threw, to the class whose work they keep. */
  readonly #heirs = new WeakMap<ProxyClass, WeakRef<ProxyClass>>();
  readonly #proxies = new Set<ProxyState>();
  readonly #byAddress = new Map<string, Set<ProxyState>>();

  constructor(options: TranslatorOptions) {
    this.mesh = options.mesh;
    this.#options = options;
    this.caches = new Caches(options.table, options.caches, options.failed);
  }

  /** Number of classes that are alive, and of proxies in them. */
  get counts(): { readonly classes: number; readonly proxies: number } {
    let classes = 0;
    for (const group of this.#classes.values()) classes += group.size;
    return { classes, proxies: this.#proxies.size };
  }

  /** Ports of hosts that lost a conflict, and to which; each once, whatever the number of classes that have it. */
  conflicts(): ListenerConflict[] {
    const lists = new Set<readonly ListenerConflict[]>();
    for (const group of this.#classes.values()) {
      for (const proxyClass of group) for (const list of proxyClass.conflicts()) lists.add(list);
    }
    const found = new Map<string, ListenerConflict>();
    for (const list of lists) for (const conflict of list) found.set(JSON.stringify(conflict), conflict);
    return [...found.values()];
  }

  /** What users wrote and do not get, each once. Costs what there is to say, and a look at each class and proxy. */
  warnings(): Warning[] {
    return distinctWarnings(this.#allWarnings());
  }

  *#allWarnings(): Iterable<Warning> {
    yield* meshWarnings(this.mesh);
    yield* this.caches.warnings();
    for (const conflict of this.conflicts()) yield listenerWarning(conflict);
    for (const group of this.#classes.values()) for (const proxyClass of group) yield* proxyClass.warnings();
    for (const state of this.#proxies) yield* state.own?.warnings() ?? [];
  }

  /** All proxies. */
  proxies(): Iterable<ProxyState> {
    return this.#proxies;
  }

  /** What objects that select workloads may look at, for each connected proxy. */
  *workloads(): Iterable<SelectableWorkload> {
    for (const { proxy: { namespace, properties } } of this.#proxies) yield { namespace, labels: properties.labels };
  }

  /**
   * Takes over all proxies of another translator.
   *
   * @param readAgain Reads a proxy's properties again (some have their default in the mesh configuration).
   */
  adopt(other: Translator, readAgain: (proxy: Proxy) => Proxy): void {
    for (const state of [...other.#proxies]) {
      other.leave(state);
      state.proxy = readAgain(state.proxy);
      state.proxyClass = this.#classFor(state.proxy, state.proxyClass);
      this.#add(state);
    }
  }

  /** Takes a proxy in; its resources are there when this returns. */
  join(proxy: Proxy): ProxyState {
    const state = new ProxyState(proxy, this.#classFor(proxy));
    this.#add(state);
    return state;
  }

  #add(state: ProxyState): void {
    this.#proxies.add(state);
    for (const address of state.proxy.addresses) {
      const there = this.#byAddress.get(address);
      if (there) there.add(state);
      else this.#byAddress.set(address, new Set([state]));
    }
    this.#refreshOwn(state);
  }

  /** Lets a proxy go. Its class stays until the next sweep, for its return. */
  leave(state: ProxyState): void {
    this.#proxies.delete(state);
    for (const address of state.proxy.addresses) {
      const there = this.#byAddress.get(address);
      there?.delete(state);
      if (there?.size === 0) this.#byAddress.delete(address);
    }
  }

  /** Takes in a change; afterwards every set is as the mesh is now. */
  apply(change: MeshChange, addresses: ReadonlySet<string> = new Set()): AffectedKeys {
    const affected = this.mesh.apply(change);
    const dirty = this.caches.invalidate(affected);
    const homeless = this.#dropTouchedClasses(affected);
    const fresh = new Map<ProxyClass, readonly PropertyQuestion[]>();
    for (const group of this.#classes.values()) {
      for (const proxyClass of group) {
        proxyClass.update(dirty);
        const questions = proxyClass.takeFreshQuestions();
        if (questions.length > 0) fresh.set(proxyClass, questions);
      }
    }
    if (homeless || fresh.size > 0) this.#reclassify(fresh);
    for (const state of this.#ownDirty(affected, dirty, addresses)) this.#refreshOwn(state);
    return affected;
  }

  /** Drops classes and units that no proxy uses; to be called now and then. */
  sweep(): void {
    const used = new Set<ProxyClass>();
    for (const state of this.#proxies) used.add(state.proxyClass);
    this.#dropClasses((c) => !used.has(c));
    this.caches.own.sweep([...this.#proxies].map((state) => state.own));
  }

  /** @param before The class that the proxy leaves. */
  #classFor(proxy: Proxy, before?: ProxyClass): ProxyClass {
    const { type, labels } = proxy.properties;
    const scope = this.mesh.scope(proxy.namespace, type === "router" ? undefined : labels);
    let group = this.#classes.get(scope);
    if (!group) this.#classes.set(scope, group = new Set());
    for (const known of group) {
      // What cannot be made now is there only for proxies that come from the same class.
      const lacks = before !== undefined && known.failing && this.#heirs.get(known)?.deref() !== before;
      if (!lacks && known.fits(proxy.properties)) return known;
    }
    const reader = new ScopeReader(this.mesh, scope, proxy.properties, this.#options.settings);
    const made = makeClass(reader, this.caches, this.#latest, before);
    if (before && made.failing) this.#heirs.set(made, new WeakRef(before));
    this.#latest = made;
    made.takeFreshQuestions(); // the maker answers them all
    group.add(made);
    return made;
  }

  #dropClasses(drop: (proxyClass: ProxyClass) => boolean): boolean {
    let dropped = false;
    for (const [scope, group] of this.#classes) {
      for (const proxyClass of group) {
        if (!drop(proxyClass)) continue;
        dropped = group.delete(proxyClass);
        if (this.#latest === proxyClass) this.#latest = undefined;
      }
      if (group.size === 0) this.#classes.delete(scope);
    }
    return dropped;
  }

  /** Drops the classes whose scope or gateways may be others now; tells whether any was dropped. */
  #dropTouchedClasses(affected: AffectedKeys): boolean {
    const everywhere = affected.sidecars.has("*");
    return this.#dropClasses((c) =>
      c.type === "router" ? affected.gateways : everywhere || affected.sidecars.has(c.scope.namespace)
    );
  }

  /** Finds another class for states whose class is gone, or asks what they answer differently. */
  #reclassify(fresh: ReadonlyMap<ProxyClass, readonly PropertyQuestion[]>): void {
    for (const state of this.#proxies) {
      const { proxyClass, proxy: { properties } } = state;
      const alive = this.#classes.get(proxyClass.scope)?.has(proxyClass);
      if (alive && (fresh.get(proxyClass) ?? []).every(({ compute, answer }) => compute(properties) === answer)) {
        continue;
      }
      state.proxyClass = this.#classFor(state.proxy, proxyClass);
      if (!alive) this.#refreshOwn(state);
    }
  }

  /** Members whose own services, or what those depend on, changed. */
  #ownDirty(affected: AffectedKeys, dirty: DirtyUnits, addresses: ReadonlySet<string>): Set<ProxyState> {
    const states = new Set<ProxyState>();
    for (const address of addresses) {
      for (const state of this.#byAddress.get(address) ?? []) states.add(state);
    }
    const { services } = affected;
    for (const state of this.#proxies) {
      if (state.ownFailing || (services.size > 0 && state.servesAny(services))) states.add(state);
      else if (state.own?.dependsOnAny(dirty.changed)) states.add(state);
    }
    return states;
  }

  #refreshOwn(state: ProxyState): void {
    const { proxy, proxyClass } = state;
    const reader = new ScopeReader(this.mesh, proxyClass.scope, proxy.properties, this.#options.settings);
    try {
      state.setOwn(reader, this.#options.targetsOf(proxy), this.caches);
    } catch (error) {
      // What it has for itself stays as it was; the others go on.
      this.#options.failed("inbound", proxy.nodeId, error);
    }
  }
}
