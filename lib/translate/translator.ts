/**
 * From changes of the mesh to the resources of every connected proxy.
 *
 *     change ─> mesh ─> what it touched ─> units dropped ─> classes look again ─> sets of resources
 *                                                               └─ proxies ask theirs by type
 *
 * Work is done once per class of proxies and touched unit, whatever the number of proxies.
 *
 * @module
 */
import type { Mesh, MeshChange, Touched } from "../mesh/mesh.ts";
import type { Scope } from "../mesh/scope.ts";
import type { SelectableWorkload } from "../mesh/selection/index.ts";
import type { ServiceTarget } from "../registry/inbound.ts";
import type { ResourceTable } from "../resource/set.ts";
import { type BuildFailed, Caches, type CacheSwitches, type DirtyUnits } from "./caches.ts";
import type { ListenerConflict } from "./listener/part.ts";
import { Member } from "./member.ts";
import { makeClass, type ProxyClass } from "./proxy_class.ts";
import type { Proxy } from "./proxy/traits.ts";
import type { TranslateSettings } from "./reader.ts";
import { ScopeReader } from "./scope_reader.ts";
import type { TraitQuestion } from "./trace.ts";
import { distinctWarnings, listenerWarning, meshWarnings, type Warning } from "./warning.ts";

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
  readonly #members = new Set<Member>();
  readonly #byAddress = new Map<string, Set<Member>>();

  constructor(options: TranslatorOptions) {
    this.mesh = options.mesh;
    this.#options = options;
    this.caches = new Caches(options.table, options.caches, options.failed);
  }

  /** Number of classes that are alive, and of proxies in them. */
  get counts(): { readonly classes: number; readonly proxies: number } {
    let classes = 0;
    for (const group of this.#classes.values()) classes += group.size;
    return { classes, proxies: this.#members.size };
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
    for (const member of this.#members) yield* member.own?.warnings() ?? [];
  }

  /** All proxies. */
  members(): Iterable<Member> {
    return this.#members;
  }

  /** What objects that select workloads may look at, for each connected proxy. */
  *workloads(): Iterable<SelectableWorkload> {
    for (const { proxy: { namespace, traits } } of this.#members) yield { namespace, labels: traits.labels };
  }

  /**
   * Takes over all proxies of another translator.
   *
   * @param readAgain Reads a proxy's traits again (some have their default in the mesh configuration).
   */
  adopt(other: Translator, readAgain: (proxy: Proxy) => Proxy): void {
    for (const member of [...other.#members]) {
      other.leave(member);
      member.proxy = readAgain(member.proxy);
      member.proxyClass = this.#classFor(member.proxy, member.proxyClass);
      this.#add(member);
    }
  }

  /** Takes a proxy in; its resources are there when this returns. */
  join(proxy: Proxy): Member {
    const member = new Member(proxy, this.#classFor(proxy));
    this.#add(member);
    return member;
  }

  #add(member: Member): void {
    this.#members.add(member);
    for (const address of member.proxy.addresses) {
      const there = this.#byAddress.get(address);
      if (there) there.add(member);
      else this.#byAddress.set(address, new Set([member]));
    }
    this.#refreshOwn(member);
  }

  /** Lets a proxy go. Its class stays until the next sweep, for its return. */
  leave(member: Member): void {
    this.#members.delete(member);
    for (const address of member.proxy.addresses) {
      const there = this.#byAddress.get(address);
      there?.delete(member);
      if (there?.size === 0) this.#byAddress.delete(address);
    }
  }

  /** Takes in a change; afterwards every set is as the mesh is now. */
  apply(change: MeshChange, addresses: ReadonlySet<string> = new Set()): Touched {
    const touched = this.mesh.apply(change);
    const dirty = this.caches.invalidate(touched);
    const homeless = this.#dropTouchedClasses(touched);
    const fresh = new Map<ProxyClass, readonly TraitQuestion[]>();
    for (const group of this.#classes.values()) {
      for (const proxyClass of group) {
        proxyClass.update(dirty);
        const questions = proxyClass.takeFreshQuestions();
        if (questions.length > 0) fresh.set(proxyClass, questions);
      }
    }
    if (homeless || fresh.size > 0) this.#reclassify(fresh);
    for (const member of this.#ownDirty(touched, dirty, addresses)) this.#refreshOwn(member);
    return touched;
  }

  /** Drops classes and units that no proxy uses; to be called now and then. */
  sweep(): void {
    const used = new Set<ProxyClass>();
    for (const member of this.#members) used.add(member.proxyClass);
    this.#dropClasses((c) => !used.has(c));
    this.caches.own.sweep([...this.#members].map((member) => member.own));
  }

  /** @param before The class that the proxy leaves. */
  #classFor(proxy: Proxy, before?: ProxyClass): ProxyClass {
    const { type, labels } = proxy.traits;
    const scope = this.mesh.scope(proxy.namespace, type === "router" ? undefined : labels);
    let group = this.#classes.get(scope);
    if (!group) this.#classes.set(scope, group = new Set());
    for (const known of group) {
      // What cannot be made now is there only for proxies that come from the same class.
      const lacks = before !== undefined && known.failing && this.#heirs.get(known)?.deref() !== before;
      if (!lacks && known.fits(proxy.traits)) return known;
    }
    const reader = new ScopeReader(this.mesh, scope, proxy.traits, this.#options.settings);
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
  #dropTouchedClasses(touched: Touched): boolean {
    const everywhere = touched.sidecars.has("*");
    return this.#dropClasses((c) =>
      c.type === "router" ? touched.gateways : everywhere || touched.sidecars.has(c.scope.namespace)
    );
  }

  /** Finds another class for members whose class is gone, or asks what they answer differently. */
  #reclassify(fresh: ReadonlyMap<ProxyClass, readonly TraitQuestion[]>): void {
    for (const member of this.#members) {
      const { proxyClass, proxy: { traits } } = member;
      const alive = this.#classes.get(proxyClass.scope)?.has(proxyClass);
      if (alive && (fresh.get(proxyClass) ?? []).every(({ compute, answer }) => compute(traits) === answer)) continue;
      member.proxyClass = this.#classFor(member.proxy, proxyClass);
      if (!alive) this.#refreshOwn(member);
    }
  }

  /** Members whose own services, or what those depend on, changed. */
  #ownDirty(touched: Touched, dirty: DirtyUnits, addresses: ReadonlySet<string>): Set<Member> {
    const members = new Set<Member>();
    for (const address of addresses) {
      for (const member of this.#byAddress.get(address) ?? []) members.add(member);
    }
    const { services } = touched;
    for (const member of this.#members) {
      if (member.ownFailing || (services.size > 0 && member.servesAny(services))) members.add(member);
      else if (member.own?.dependsOnAny(dirty.changed)) members.add(member);
    }
    return members;
  }

  #refreshOwn(member: Member): void {
    const { proxy, proxyClass } = member;
    const reader = new ScopeReader(this.mesh, proxyClass.scope, proxy.traits, this.#options.settings);
    try {
      member.setOwn(reader, this.#options.targetsOf(proxy), this.caches);
    } catch (error) {
      // What it has for itself stays as it was; the others go on.
      this.#options.failed("inbound", proxy.nodeId, error);
    }
  }
}
