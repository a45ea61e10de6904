/**
 * The analysis of a whole mesh, kept up to date change by change.
 *
 *     change of mesh, objects, facts ─> stale results ─> steps() ─> findings by object
 *
 * Taking in a change costs next to nothing: it is noted. The work is done in steps, when no push is waited for. A
 * result is kept with what was read for it, so a change runs again only what it touches.
 *
 * @module
 */
import type { ChangeSet } from "../config/store.ts";
import { FactIndex } from "../config/facts/fact_index.ts";
import type { Fact } from "../config/facts/types.ts";
import { FACT_KINDS } from "../config/facts/types.ts";
import type { Finding } from "../config/finding/finding.ts";
import type { AnyConfigObject, ConfigObject } from "../config/types.ts";
import { BuildCache, type BuildCounts } from "../incremental/build_cache.ts";
import { InvalidatedKeys } from "../incremental/keys.ts";
import type { AffectedKeys, Mesh } from "../mesh/mesh.ts";
import type { SubjectKind, SubjectOf } from "./analyzer.ts";
import { findingsOf, isAnalyzed } from "./findings_of.ts";
import { ObjectGroups } from "./reader/groups.ts";
import { Instants } from "./reader/instants.ts";
import { addAffected, addSubject, ANALYSIS_KEY, type ChangedSubject } from "./reader/keys.ts";
import { AnalysisReader } from "./reader/reader.ts";
import type { AnalysisSource, AnalyzedWorld } from "./reader/source.ts";

/** The inputs of an analysis. */
export interface AnalysisOptions extends Omit<AnalyzedWorld, "mesh" | "refused" | "factView" | "groups" | "instants"> {
  /** Wall time in milliseconds since 1970: certificates end. */
  readonly now: () => number;
  /** An analyzer threw: a defect; its object has no findings until the next change. */
  readonly failed: (key: string, error: unknown) => void;
}

type Subject = SubjectOf<SubjectKind>;

/** See the module. */
export class Analysis {
  readonly #options: AnalysisOptions;
  #cache: BuildCache<AnalysisSource, readonly Finding[], never, Subject>;
  #source: AnalysisSource;
  /** Objects with findings alone. */
  readonly #findings = new Map<string, readonly Finding[]>();
  /** Objects to look at, with themselves; undefined: gone. */
  readonly #subjects = new Map<string, Subject>();
  #dirty = new Set<string>();
  /** Of the indexes of the mesh, and of objects. */
  #stale = new InvalidatedKeys();
  /** Of facts. */
  #staleFacts: InvalidatedKeys[] = [];
  readonly #factIndex: FactIndex;
  readonly #instants: Instants;
  #groups = new ObjectGroups();

  constructor(options: AnalysisOptions, mesh: Mesh) {
    this.#options = options;
    this.#factIndex = new FactIndex(options.facts, options.settings.domainSuffix);
    this.#instants = new Instants(options.now);
    this.#source = this.#newSource(mesh, new Set());
    this.#cache = this.#newCache();
    for (const kind of FACT_KINDS) for (const fact of options.facts.list(kind)) this.#take(fact as Subject);
  }

  /** The number of builds so far, for tests of cost. */
  get counts(): Readonly<BuildCounts> {
    return this.#cache.counts;
  }

  /** Whether findings are not those of what was taken in last. */
  get isBehind(): boolean {
    return this.#dirty.size > 0 || !this.#stale.empty || this.#staleFacts.length > 0 || this.#instants.isDue;
  }

  /** When findings will be others though nothing changes, in milliseconds since 1970; undefined: never. */
  get nextInstant(): number | undefined {
    return this.#instants.next;
  }

  /** Takes another mesh, with all its objects: everything is looked at anew. */
  reset(mesh: Mesh, objects: Iterable<AnyConfigObject>): void {
    this.#groups = new ObjectGroups();
    this.#source = this.#newSource(mesh, this.#source.world.refused);
    this.#cache = this.#newCache();
    this.#stale = new InvalidatedKeys();
    for (const [key, { kind }] of this.#subjects) {
      if (!(FACT_KINDS as readonly string[]).includes(kind)) this.#subjects.delete(key);
    }
    for (const object of objects) this.#take(object as Subject);
    for (const key of this.#findings.keys()) if (!this.#subjects.has(key)) this.#findings.delete(key);
    for (const key of this.#subjects.keys()) this.#dirty.add(key);
  }

  /** Notes what changed in the mesh. */
  changed(removed: Iterable<AnyConfigObject>, added: Iterable<AnyConfigObject>, affected: AffectedKeys): void {
    for (const object of removed) this.#remove(object);
    for (const object of added) this.#put(object);
    addAffected(this.#stale, affected);
  }

  /** Notes what changed in the facts. */
  factsChanged(changes: ChangeSet<Fact>): void {
    const { added, updated, removed } = changes;
    this.#staleFacts.push(this.#factIndex.apply(changes));
    for (const fact of removed) this.#remove(fact);
    for (const fact of [...added, ...updated.map((one) => one.new)]) this.#put(fact as Subject);
  }

  /** Notes which objects are refused and have no version in force. */
  refusedChanged(keys: ReadonlySet<string>): void {
    const before = this.#source.world.refused;
    for (const key of before.symmetricDifference(keys)) {
      const [kind = "", namespace = ""] = key.split("/");
      addSubject(this.#stale, { kind, key, meta: { namespace } });
    }
    this.#source = { ...this.#source, world: { ...this.#source.world, refused: keys } };
  }

  #put(subject: Subject): void {
    addSubject(this.#stale, subject);
    this.#cache.drop(subject.key);
    for (const group of this.#take(subject)) this.#stale.add(ANALYSIS_KEY.group, group);
  }

  /** @returns The groups that it is in now, or was. */
  #take(subject: Subject): Iterable<string> {
    const groups = this.#groups.put(subject as ConfigObject);
    if (!isAnalyzed(subject.kind)) return groups;
    this.#subjects.set(subject.key, subject);
    this.#dirty.add(subject.key);
    return groups;
  }

  #remove(subject: ChangedSubject): void {
    addSubject(this.#stale, subject);
    for (const group of this.#groups.remove(subject)) this.#stale.add(ANALYSIS_KEY.group, group);
    this.#subjects.delete(subject.key);
    this.#dirty.add(subject.key);
  }

  /** Brings the findings up to date, one object a step; what changes meanwhile is taken in too. */
  *steps(): Generator<void, void> {
    for (this.#invalidate(); this.#dirty.size > 0; this.#invalidate()) {
      // Taking one after the other out of one large set would cost more than looking at them.
      const batch = this.#dirty;
      this.#dirty = new Set();
      for (const key of batch) {
        this.#look(key);
        yield;
        this.#invalidate();
      }
    }
  }

  #invalidate(): void {
    for (const instant of this.#instants.takeDue()) this.#stale.add(ANALYSIS_KEY.instant, String(instant));
    const all = this.#stale.empty ? this.#staleFacts : [this.#stale, ...this.#staleFacts];
    if (all.length === 0) return;
    this.#stale = new InvalidatedKeys();
    this.#staleFacts = [];
    for (const keys of all) for (const key of this.#cache.invalidate(keys)) this.#dirty.add(key);
  }

  #look(key: string): void {
    const subject = this.#subjects.get(key);
    if (subject === undefined) {
      this.#cache.drop(key);
      this.#findings.delete(key);
      return;
    }
    const { value } = this.#cache.get(key, this.#source, subject);
    if (value.length > 0) this.#findings.set(key, value);
    else this.#findings.delete(key);
  }

  #newSource(mesh: Mesh, refused: ReadonlySet<string>): AnalysisSource {
    const world = {
      ...this.#options,
      mesh,
      refused,
      factView: this.#factIndex,
      groups: this.#groups,
      instants: this.#instants,
    };
    return { properties: undefined, view: ONE_VIEW, world };
  }

  #newCache(): BuildCache<AnalysisSource, readonly Finding[], never, Subject> {
    return new BuildCache((recorder, _key, subject) => findingsOf(subject, new AnalysisReader(recorder)), {
      enabled: true,
      fallback: [],
      failed: this.#options.failed,
    });
  }

  /** All findings, by key of the object. */
  *findings(): Iterable<Finding> {
    for (const key of [...this.#findings.keys()].sort()) yield* this.#findings.get(key) ?? [];
  }

  /** The findings of one object. */
  findingsOf(key: string): readonly Finding[] {
    return this.#findings.get(key) ?? [];
  }
}

const ONE_VIEW = {};
