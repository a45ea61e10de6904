/**
 * The analysis of a whole mesh, kept up to date change by change.
 *
 *     change of mesh, objects, facts ─> stale results ─> steps() ─> findings by object
 *
 * Taking a change in costs next to nothing: the change is only noted. The work is done in steps while no push is
 * waiting. The reads of an object's analysis are kept, so a change repeats only the affected analyses. Nothing is kept
 * for an object without reads and findings.
 *
 * @module
 */
import type { ChangeSet } from "../config/store.ts";
import { FactIndex } from "../config/facts/fact_index.ts";
import type { Fact } from "../config/facts/types.ts";
import { FACT_KINDS } from "../config/facts/types.ts";
import type { Finding } from "../finding/finding.ts";
import type { AnyConfigObject, ConfigObject } from "../config/types.ts";
import { Dependencies } from "../incremental/dependencies.ts";
import { InvalidatedKeys } from "../incremental/keys.ts";
import type { AffectedKeys } from "../mesh/affected.ts";
import type { Mesh } from "../mesh/mesh.ts";
import type { SubjectKind, SubjectOf } from "./analyzer.ts";
import { findingsOf, isAnalyzed } from "./findings_of.ts";
import { ObjectGroups } from "./reader/groups.ts";
import { Instants } from "./reader/instants.ts";
import { addAffected, addSubject, ANALYSIS_KEY, type ChangedSubject } from "./reader/keys.ts";
import { AnalysisReader } from "./reader/reader.ts";
import type { AnalyzedWorld } from "./reader/source.ts";

/** The inputs of an analysis. */
export interface AnalysisOptions extends Omit<AnalyzedWorld, "mesh" | "refused" | "factView" | "groups" | "instants"> {
  /** Wall time in milliseconds since 1970. Findings about certificates depend on the time. */
  readonly now: () => number;
  /** An analyzer threw. Such an exception is a defect. The object has no findings until the next change. */
  readonly failed: (key: string, error: unknown) => void;
}

type Subject = SubjectOf<SubjectKind>;

export class Analysis {
  readonly #options: AnalysisOptions;
  #world: AnalyzedWorld;
  /** The findings by object. Objects without findings are absent. */
  readonly #findings = new Map<string, readonly Finding[]>();
  /** Objects that wait for their analysis; undefined: the object has been removed. */
  readonly #pending = new Map<string, Subject | undefined>();
  /** Analyzed objects with dependencies. A change of a dependency repeats the analysis. */
  readonly #readers = new Map<string, Subject>();
  #dependencies = new Dependencies();
  /** Objects with an analyzer that threw. Every change repeats their analysis. */
  readonly #failed = new Map<string, Subject>();
  /** Changed keys of the mesh's indexes and of objects. */
  #stale = new InvalidatedKeys();
  #staleFacts: InvalidatedKeys[] = [];
  readonly #factIndex: FactIndex;
  readonly #instants: Instants;
  #groups = new ObjectGroups();
  #looks = 0;

  constructor(options: AnalysisOptions, mesh: Mesh) {
    this.#options = options;
    this.#factIndex = new FactIndex(options.facts, options.settings.domainSuffix);
    this.#instants = new Instants(options.now);
    this.#world = this.#newWorld(mesh, new Set());
    this.#takeFacts();
  }

  /** Number of analyses of one object so far, for tests of cost. */
  get looks(): number {
    return this.#looks;
  }

  /** Whether some noted changes are not in the findings yet. */
  get isBehind(): boolean {
    return this.#pending.size > 0 || !this.#stale.empty || this.#staleFacts.length > 0 || this.#instants.isDue;
  }

  /** The next time at which findings change without any other change, in milliseconds since 1970; undefined: never. */
  get nextInstant(): number | undefined {
    return this.#instants.next;
  }

  /** Takes another mesh with all its objects, and analyzes everything again. */
  reset(mesh: Mesh, objects: Iterable<AnyConfigObject>): void {
    this.#groups = new ObjectGroups();
    this.#world = this.#newWorld(mesh, this.#world.refused);
    this.#dependencies = new Dependencies();
    this.#stale = new InvalidatedKeys();
    this.#staleFacts = [];
    for (const map of [this.#readers, this.#failed, this.#pending]) map.clear();
    this.#takeFacts();
    for (const object of objects) this.#take(object as Subject);
    for (const key of this.#findings.keys()) if (!this.#pending.has(key)) this.#findings.delete(key);
  }

  /** Notes the changes of the mesh. */
  changed(removed: Iterable<AnyConfigObject>, added: Iterable<AnyConfigObject>, affected: AffectedKeys): void {
    for (const object of removed) this.#remove(object);
    for (const object of added) this.#put(object);
    addAffected(this.#stale, affected);
  }

  /** Notes the changes of the facts. */
  factsChanged(changes: ChangeSet<Fact>): void {
    const { added, updated, removed } = changes;
    this.#staleFacts.push(this.#factIndex.apply(changes));
    for (const fact of removed) this.#remove(fact);
    for (const fact of [...added, ...updated.map((one) => one.new)]) this.#put(fact as Subject);
  }

  /** Notes the changes of the facts of remote clusters; undefined: the set of read clusters has changed. */
  remoteChanged(changes: ChangeSet<Fact> | undefined): void {
    if (changes === undefined) return this.#stale.add(ANALYSIS_KEY.remoteClusters, "");
    const { added, updated, removed } = changes;
    for (const { kind, meta } of [...added, ...removed, ...updated.map((one) => one.new)]) {
      if (kind === "Secret") this.#stale.add(ANALYSIS_KEY.remoteSecret, meta.name);
    }
  }

  /** Notes that other verdicts are known about objects of the Gateway API. @param keys Keys of the objects. */
  verdictsChanged(keys: Iterable<string>): void {
    for (const key of keys) this.#stale.add(ANALYSIS_KEY.verdict, key);
  }

  /** Notes that objects have another status, and the same content. @param keys Keys of the objects. */
  statusesChanged(keys: Iterable<string>): void {
    for (const key of keys) this.#stale.add(ANALYSIS_KEY.object, key);
  }

  /** Notes a change of the connected gateways. */
  connectedChanged(): void {
    this.#stale.add(ANALYSIS_KEY.connectedGateways, "");
  }

  /** Notes which objects are refused and have no version in force. */
  refusedChanged(keys: ReadonlySet<string>): void {
    const before = this.#world.refused;
    for (const key of before.symmetricDifference(keys)) {
      const [kind = "", namespace = ""] = key.split("/");
      addSubject(this.#stale, { kind, key, meta: { namespace } });
    }
    this.#world = { ...this.#world, refused: keys };
  }

  #put(subject: Subject): void {
    addSubject(this.#stale, subject);
    this.#forget(subject.key);
    for (const group of this.#take(subject)) this.#stale.add(ANALYSIS_KEY.group, group);
  }

  /** @returns The present and the former groups of the object. */
  #take(subject: Subject): Iterable<string> {
    if (isAnalyzed(subject.kind)) this.#pending.set(subject.key, subject);
    return this.#groups.put(subject as ConfigObject);
  }

  #takeFacts(): void {
    for (const kind of FACT_KINDS) for (const fact of this.#options.facts.list(kind)) this.#take(fact as Subject);
  }

  #remove(subject: ChangedSubject): void {
    addSubject(this.#stale, subject);
    for (const group of this.#groups.remove(subject)) this.#stale.add(ANALYSIS_KEY.group, group);
    this.#forget(subject.key);
    this.#pending.set(subject.key, undefined);
  }

  #forget(key: string): void {
    this.#dependencies.delete(key);
    this.#readers.delete(key);
    this.#failed.delete(key);
  }

  /** Brings the findings up to date, an object at each step. Changes during the work are taken in, too. */
  *steps(): Generator<void, void> {
    this.#invalidate();
    // Work added meanwhile is done in this loop as well.
    for (const [key, subject] of this.#pending) {
      this.#pending.delete(key);
      this.#look(key, subject);
      yield;
      this.#invalidate();
    }
  }

  #invalidate(): void {
    for (const instant of this.#instants.takeDue()) this.#stale.add(ANALYSIS_KEY.instant, String(instant));
    const all = this.#stale.empty ? this.#staleFacts : [this.#stale, ...this.#staleFacts];
    if (all.length === 0) return;
    this.#stale = new InvalidatedKeys();
    this.#staleFacts = [];
    for (const keys of all) {
      for (const key of this.#dependencies.invalidate(keys)) this.#again(key, this.#readers);
    }
    for (const key of this.#failed.keys()) this.#again(key, this.#failed);
  }

  #again(key: string, from: Map<string, Subject>): void {
    // A newer version may be waiting already.
    if (!this.#pending.has(key)) this.#pending.set(key, from.get(key));
    from.delete(key);
  }

  #look(key: string, subject: Subject | undefined): void {
    const found = subject === undefined ? NOTHING : this.#findingsOf(subject);
    if (found.length > 0) this.#findings.set(key, found);
    else this.#findings.delete(key);
  }

  #findingsOf(subject: Subject): readonly Finding[] {
    const { key } = subject;
    const reader = new AnalysisReader(this.#world);
    this.#looks++;
    try {
      return findingsOf(subject, reader);
    } catch (error) {
      this.#failed.set(key, subject);
      this.#options.failed(key, error);
      return NOTHING;
    } finally {
      this.#dependencies.set(key, reader.reads);
      if (reader.reads.length > 0) this.#readers.set(key, subject);
    }
  }

  #newWorld(mesh: Mesh, refused: ReadonlySet<string>): AnalyzedWorld {
    return {
      ...this.#options,
      mesh,
      refused,
      factView: this.#factIndex,
      groups: this.#groups,
      instants: this.#instants,
    };
  }

  /** All findings, by key of the object. */
  *findings(): Iterable<Finding> {
    for (const key of [...this.#findings.keys()].sort()) yield* this.#findings.get(key) ?? [];
  }

  /** The findings about an object. */
  findingsOf(key: string): readonly Finding[] {
    return this.#findings.get(key) ?? [];
  }
}

const NOTHING: readonly Finding[] = Object.freeze([]);
