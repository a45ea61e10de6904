/**
 * Objects of which only some proxies have the newest version, the candidate; other proxies have the settled version.
 *
 *     change ──> settled objects ──> mesh              candidates ──> forks of the mesh
 *                  ^───────── a rollout has ended ──────────┘
 *
 * Objects without a plan pass through. The cost grows with the change, and with the number of rollouts.
 *
 * @module
 */
import type { AnyConfigObject, ConfigObject } from "../config/types.ts";
import { chooseProxies, chosenUpTo, placeInOrder, sameProxies, sizeOfStage } from "./choice.ts";
import { defaultShares, type RolloutDefaults } from "./defaults.ts";
import { LineKeeper, type RolloutLine } from "./line.ts";
import { beginRollout, shareOf, type StageFacts, stepRollout } from "./machine.ts";
import { isFaults, planOf, type RolloutPlan } from "./plan.ts";
import {
  contentHash,
  decidedText,
  noChoice,
  replan,
  type RunningRollout,
  shownRollout,
  type Staged,
  type StagedRecord,
  unseenObject,
} from "./staged.ts";
import { changesProtection, isStagedKind, takesPlaceOf, whyNotStaged } from "./stageable.ts";

/** Removed and added objects. */
interface ObjectChange {
  readonly removed: readonly AnyConfigObject[];
  readonly added: readonly AnyConfigObject[];
}

/** Most names of sets of candidates that are remembered. */
const MAX_NAMES = 1000;

export interface StagedOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The soak time of plans without a soak time. */
  readonly soakMs: number;
  /** DNS suffix of the mesh, which completes short hosts. */
  readonly domain: string;
  /** Plans of objects without a plan of their own. Default: there are none. */
  readonly defaults?: RolloutDefaults;
  /** Rollouts of every namespace wait for rollouts of this namespace. Default: there is none. */
  readonly rootNamespace?: string;
}

export class StagedObjects {
  readonly #options: StagedOptions;
  readonly #line: LineKeeper;
  readonly #staged = new Map<string, Staged>();
  /** The objects with a candidate. */
  readonly #running = new Map<string, Staged>();
  /** The objects of staged kinds in the mesh of settled objects, by kind. */
  readonly #applied = new Map<string, Map<string, AnyConfigObject>>();
  /** Objects whose settled version has changed. */
  readonly #dirty = new Set<string>();
  /** The keys of the objects behind each name of a set of candidates. */
  readonly #names = new Map<string, readonly string[]>();
  /** Why the newest version of an object with a plan went everywhere at once. */
  readonly #atOnce = new Map<string, string>();
  /** What another server has decided, by object. */
  readonly #heard = new Map<string, StagedRecord>();
  /** Increases with every change of a record. */
  revision = 0;

  constructor(options: StagedOptions) {
    this.#options = options;
    this.#line = new LineKeeper(options.domain, options.rootNamespace ?? "");
  }

  /** Takes in what was kept before a restart. Call it before the first change. */
  restore(records: Iterable<StagedRecord>): void {
    for (const { key, settled, rollout, choice, before } of records) {
      this.#staged.set(key, { ...unseenObject(settled), rollout, earlier: choice, before });
    }
  }

  /** The change of the settled objects. */
  settledChange({ removed, added }: ObjectChange): ObjectChange {
    const settled = {
      removed: removed.filter(({ kind }) => !isStagedKind(kind)),
      added: added.filter(({ kind }) => !isStagedKind(kind)),
    };
    const newest = new Map<string, AnyConfigObject | undefined>();
    for (const object of removed) if (isStagedKind(object.kind)) newest.set(object.key, undefined);
    for (const object of added) if (isStagedKind(object.kind)) newest.set(object.key, object);
    if (newest.size + this.#dirty.size === 0) return settled;
    const now = new Map<string, AnyConfigObject | undefined>();
    for (const key of this.#dirty) now.set(key, this.#end(key));
    this.#dirty.clear();
    const gone = [...newest].flatMap(([key, object]) => object === undefined ? this.#appliedOf(key) ?? [] : []);
    for (const [key, object] of newest) now.set(key, this.#take(key, object, gone));
    for (const [key, object] of now) {
      const before = this.#replace(key, object);
      if (before === object) continue;
      if (before !== undefined) settled.removed.push(before);
      if (object !== undefined) settled.added.push(object);
    }
    return settled;
  }

  /** All settled objects, for a mesh from the beginning. */
  settledObjects(all: readonly AnyConfigObject[]): AnyConfigObject[] {
    const present = new Set(all.map(({ key }) => key));
    const applied = [...this.#applied.values()].flatMap((of) => [...of.values()]);
    const candidates = [...this.#running.values()].flatMap(({ candidate }) => candidate ?? []);
    const gone = [...applied, ...candidates].filter(({ key }) => !present.has(key));
    this.settledChange({ removed: gone, added: all.filter(({ kind }) => isStagedKind(kind)) });
    const others = all.filter(({ kind }) => !isStagedKind(kind));
    return [...others, ...[...this.#applied.values()].flatMap((of) => [...of.values()])];
  }

  /** @returns the object of the key so far */
  #replace(key: string, object: AnyConfigObject | undefined): AnyConfigObject | undefined {
    const of = this.#applied.getOrInsertComputed(key.slice(0, key.indexOf("/")), () => new Map());
    const before = of.get(key);
    if (object === undefined) of.delete(key);
    else of.set(key, object);
    return before;
  }

  /** @returns the settled version after the end of a rollout */
  #end(key: string): AnyConfigObject | undefined {
    const staged = this.#staged.get(key);
    if (staged?.ends === true) this.#settle(key, staged, staged.candidate);
    return staged?.settled;
  }

  #settle(key: string, staged: Staged, object: AnyConfigObject | undefined): void {
    if (staged.settled === object && staged.rollout === undefined) return;
    this.#running.delete(key);
    Object.assign(staged, unseenObject(object));
    this.revision++;
  }

  #appliedOf(key: string): AnyConfigObject | undefined {
    return this.#applied.get(key.slice(0, key.indexOf("/")))?.get(key);
  }

  /**
   * Takes the newest version of an object.
   *
   * @param gone The objects that all proxies had until this change.
   * @returns the settled version
   */
  #take(
    key: string,
    object: AnyConfigObject | undefined,
    gone: readonly AnyConfigObject[],
  ): AnyConfigObject | undefined {
    const plan = object && this.planOf(object);
    this.#atOnce.delete(key);
    if (object === undefined || plan === undefined) {
      this.#running.delete(key);
      if (this.#staged.delete(key)) this.revision++;
      return object;
    }
    const before = this.#appliedOf(key);
    const staged = this.#staged.getOrInsertComputed(key, () => unseenObject(before));
    const { settled, rollout } = staged;
    const content = contentHash(object);
    const { now, domain } = this.#options;
    if (settled === undefined && rollout === undefined && !this.#isSealed) this.#settle(key, staged, object);
    else if (settled !== undefined && contentHash(settled) === content) this.#settle(key, staged, object);
    else if (changesProtection(settled, object)) {
      this.#atOnce.set(key, "the edit changes what protects");
      this.#settle(key, staged, object);
    } else if (settled === undefined && gone.some((one) => takesPlaceOf(object, one, domain))) {
      this.#atOnce.set(key, "the object takes the place of an object with another name");
      this.#settle(key, staged, object);
    } else if (rollout?.candidate === content) {
      this.revision++;
      this.#running.set(key, staged);
      staged.candidate = object;
      replan(staged, plan, now());
    } else {
      this.revision++;
      this.#running.set(key, staged);
      const rollout = beginRollout(key, content, plan, now());
      Object.assign(staged, { ...unseenObject(settled), candidate: object, rollout });
    }
    const heard = this.#heard.get(key);
    if (heard !== undefined && this.#decide(key, staged, object, heard) === "everywhere") {
      this.#settle(key, staged, object);
    }
    return staged.settled;
  }

  #isSealed = false;

  /** The first reading is over. A new object with a plan is staged from now on. */
  seal(): void {
    this.#isSealed = true;
    // Objects that went while no server ran.
    for (const [key, { settled, candidate }] of this.#staged) {
      const isThere = candidate !== undefined || this.#appliedOf(key) === settled;
      if (isThere && (candidate ?? settled) !== undefined) continue;
      this.#staged.delete(key);
      this.revision++;
    }
  }

  /** Whether some object has a candidate. */
  get active(): boolean {
    return this.#running.size > 0;
  }

  /** The plan in force for an object; undefined: the object goes everywhere at once. */
  planOf(object: ConfigObject): RolloutPlan | undefined {
    const { soakMs, defaults } = this.#options;
    const plan = planOf(object.meta.annotations, soakMs, defaults && defaultShares(object, defaults));
    return plan === undefined || isFaults(plan) || whyNotStaged(object) !== undefined ? undefined : plan;
  }

  #lineNow(): RolloutLine {
    const all = [...this.#running].flatMap(([key, { settled, candidate, rollout, choice, earlier, isIdle }]) => {
      if (candidate === undefined || rollout === undefined) return [];
      const hasProxies = choice.limit >= 0 || (earlier?.limit ?? -1) >= 0;
      return [{ key, settled, candidate, isTakenBack: rollout.phase === "taken-back", hasProxies, isIdle }];
    });
    return this.#line.of(all);
  }

  /** The rollouts, the oldest first. Those that concern no proxy take turns. */
  rollouts(): RunningRollout[] {
    const { waits } = this.#lineNow();
    return [...this.#running].flatMap(([key, staged]) => shownRollout(key, staged, waits) ?? []);
  }

  /** The rollout of an object. Undefined: the object has none. */
  rollout(key: string): RunningRollout | undefined {
    const staged = this.#running.get(key);
    return staged && shownRollout(key, staged, this.#lineNow().waits);
  }

  /** The objects of rollouts that run or wait, the next one first. */
  get line(): readonly string[] {
    return this.#lineNow().order;
  }

  /** The objects whose newest version went everywhere at once in spite of a plan, with the reason. */
  get atOnce(): ReadonlyMap<string, string> {
    return this.#atOnce;
  }

  /** What must be kept for a restart. */
  *records(): Iterable<StagedRecord> {
    for (const [key, { settled, rollout, choice, total, earlier, before }] of this.#staged) {
      const kept = choice.limit < 0 ? earlier : { total, limit: choice.limit };
      yield { key, settled, rollout, choice: rollout && kept, before: rollout && before };
    }
  }

  /** Notes requests and errors before a rollout. */
  noteBefore(key: string, before: NonNullable<Staged["before"]>): void {
    const staged = this.#running.get(key);
    if (staged === undefined) return;
    staged.before = before;
    this.revision++;
  }

  /** Makes a step of a rollout. `settled`: all proxies have the candidate from the next push on. */
  step(key: string, facts: StageFacts): "same" | "changed" | "settled" {
    const staged = this.#staged.get(key);
    if (staged?.rollout === undefined || staged.ends) return "same";
    const next = stepRollout(staged.rollout, facts, this.#options.now());
    if (next === staged.rollout) return "same";
    this.revision++;
    if (next === "settled") {
      staged.ends = true;
      this.#dirty.add(key);
      return "settled";
    }
    staged.rollout = next;
    if (next.phase === "taken-back") staged.choice = noChoice();
    return "changed";
  }

  /**
   * Chooses the proxies of a rollout's stage among the concerned proxies.
   *
   * @param returning Whether proxies still come back after a restart.
   * @param elsewhere The places of the concerned proxies of other servers.
   * @returns whether other proxies of this server are chosen
   */
  choose(
    key: string,
    concerned: ReadonlySet<string>,
    returning = false,
    elsewhere: readonly number[] = [],
  ): boolean {
    const staged = this.#staged.get(key);
    if (staged?.rollout === undefined || staged.ends) return false;
    const { choice, earlier, kept } = staged;
    if (!returning) staged.earlier = undefined;
    const { total, places, ...next } = chooseProxies(key, concerned, shareOf(staged.rollout), {
      ...{ earlier: returning ? earlier : undefined, elsewhere, present: choice.limit, kept },
    });
    Object.assign(staged, { total, kept: places });
    this.#setIdle(key, staged, total === 0 && !returning);
    const isSame = sameProxies(next.proxies, choice.proxies);
    if (isSame && next.limit === choice.limit) return false;
    staged.choice = next;
    this.revision++;
    return !isSame;
  }

  /** Takes the candidate from the proxies of a rollout that waits. @returns whether a proxy of this server had it */
  withdraw(key: string): boolean {
    const staged = this.#running.get(key);
    if (staged === undefined || staged.ends || (staged.choice.limit < 0 && staged.earlier === undefined)) return false;
    const had = staged.choice.proxies.size > 0;
    Object.assign(staged, { choice: noChoice(), earlier: undefined });
    this.revision++;
    return had;
  }

  /** Rollouts that concern no proxy stand behind all others, and take turns. */
  #setIdle(key: string, staged: Staged, isIdle: boolean): void {
    staged.isIdle = isIdle;
    if (isIdle && this.#running.delete(key)) this.#running.set(key, staged);
  }

  /**
   * Chooses the proxies of this server up to the limit that another server has set.
   *
   * @returns whether other proxies of this server are chosen
   */
  follow(key: string, concerned: ReadonlySet<string>): boolean {
    const staged = this.#running.get(key);
    if (staged === undefined || staged.ends) return false;
    const { choice: { limit, proxies: before }, earlier, rollout } = staged;
    // The object came after the decision about it.
    const decided = limit < 0 && rollout?.phase !== "taken-back" ? earlier?.limit ?? -1 : limit;
    const proxies = chosenUpTo(key, concerned, decided);
    staged.choice = { proxies, limit: decided };
    this.#setIdle(key, staged, concerned.size === 0 && decided < 0);
    return !sameProxies(proxies, before);
  }

  /** This server decides from now on. Proxies of other servers may not be known yet. */
  lead(): void {
    this.#heard.clear();
    for (const staged of this.#running.values()) {
      const { choice: { limit }, total, candidate } = staged;
      staged.isIdle = false;
      if (limit >= 0) staged.earlier = { total, limit };
      // No server may have seen an edit of the plan while it led.
      const plan = candidate && this.planOf(candidate);
      if (plan !== undefined) replan(staged, plan, this.#options.now());
    }
  }

  /**
   * Takes what another server has decided about an object.
   *
   * @param record Undefined: the other server keeps nothing about the object.
   * @returns whether proxies of this server may get another version
   */
  adopt(key: string, record: StagedRecord | undefined): boolean {
    if (record === undefined) {
      this.#heard.delete(key);
      return false;
    }
    this.#heard.set(key, record);
    const staged = this.#staged.get(key);
    const newest = staged?.candidate ?? this.#appliedOf(key);
    // The object has not arrived yet, or its newest version has no plan here.
    if (staged === undefined || newest === undefined) return false;
    const before = decidedText(staged);
    if (this.#decide(key, staged, newest, record) === "everywhere" && staged.candidate !== undefined) {
      staged.ends = true;
      this.#dirty.add(key);
    }
    return decidedText(staged) !== before;
  }

  /** Takes a decision about the newest version of an object. `everywhere`: all proxies get the newest version. */
  #decide(
    key: string,
    staged: Staged,
    newest: AnyConfigObject,
    { settled, rollout, choice, before }: StagedRecord,
  ): "everywhere" | "staged" {
    const content = contentHash(newest);
    const isSettled = settled !== undefined && contentHash(settled) === content;
    if (isSettled || changesProtection(settled, newest)) return "everywhere";
    const isOwn = rollout?.candidate === content;
    // Here the new object took the place of another object.
    if (isOwn && settled === undefined && staged.candidate === undefined) return "everywhere";
    this.#running.set(key, staged);
    const limit = !isOwn || rollout.phase === "taken-back" ? -1 : choice?.limit ?? -1;
    if ((staged.settled && contentHash(staged.settled)) !== (settled && contentHash(settled))) {
      staged.settled = settled;
      this.#dirty.add(key);
    }
    Object.assign(staged, {
      ...{ candidate: newest, ends: false, before, earlier: isOwn ? choice : undefined, total: choice?.total ?? 0 },
      choice: { proxies: chosenUpTo(key, staged.choice.proxies, limit), limit },
    });
    if (isOwn) staged.rollout = rollout;
    else if (staged.rollout?.candidate !== content) {
      const plan = this.planOf(newest);
      // The other server has not seen the newest version yet.
      if (plan !== undefined) staged.rollout = beginRollout(key, content, plan, this.#options.now());
    }
    return "staged";
  }

  /** The name of a proxy's set of candidates. Undefined: the proxy has only settled objects. */
  candidatesOf(proxy: string): string | undefined {
    const keys: string[] = [];
    for (const [key, staged] of this.#running) {
      if (staged.choice.proxies.has(proxy) || this.#returns(key, staged, proxy)) keys.push(key);
    }
    if (keys.length === 0) return undefined;
    const name = keys.map((key) => `${key}@${this.#staged.get(key)!.candidate!.hash}`).sort().join();
    if (this.#names.size > MAX_NAMES) this.#names.clear();
    this.#names.set(name, keys);
    return name;
  }

  /** Whether a proxy with the candidate comes back after a restart. */
  #returns(key: string, { rollout, earlier, choice }: Staged, proxy: string): boolean {
    if (rollout === undefined || earlier === undefined || rollout.phase === "taken-back") return false;
    const size = sizeOfStage(earlier.total, shareOf(rollout));
    if (choice.proxies.size >= size || placeInOrder(proxy, key) > earlier.limit) return false;
    (choice.proxies as Set<string>).add(proxy);
    return true;
  }

  /** The objects of a set of candidates: the parameters of `Mesh.fork`. */
  fork(name: string): { readonly keys: ReadonlySet<string>; readonly objects: readonly AnyConfigObject[] } {
    const keys = new Set(this.#names.get(name));
    const kinds = new Set([...keys].map((key) => key.slice(0, key.indexOf("/"))));
    const settled = [...kinds].flatMap((kind) => [...this.#applied.get(kind)?.values() ?? []]);
    return {
      keys,
      objects: [
        ...settled.filter(({ key }) => !keys.has(key)),
        ...[...keys].flatMap((key) => this.#staged.get(key)?.candidate ?? []),
      ],
    };
  }
}
