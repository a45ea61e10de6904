/**
 * Keeps the objects of one derivation up to date: a change costs the affected inputs.
 *
 *     store ──┐                        ┌─> read record of the input
 *             ├─> changed inputs ─> derive ─> objects ─> source of the same store
 *     facts ──┘   and their groups,
 *                 and readers of changed objects
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { objectName } from "../../finding/object_name.ts";
import { BuildCache } from "../../incremental/build_cache.ts";
import { InvalidatedKeys } from "../../incremental/keys.ts";
import type { FactStore } from "../facts/store.ts";
import type { FactKind } from "../facts/types.ts";
import { fieldFinding, type Finding, findingChanges } from "../../finding/finding.ts";
import { objectFromSpec, type ParsedObject } from "../object.ts";
import type { DerivedOrigin } from "../../finding/origin.ts";
import { duplicateFinding } from "../overlap.ts";
import type { ChangeSet, ConfigStore, StoredObject, StoreSource } from "../store.ts";
import type { MeshConfig } from "../mesh/types.ts";
import type { ConfigObject, Kind } from "../types.ts";
import type { Derivation, DerivationInput, DerivedObject, GroupReader } from "./derivation.ts";
import { InputGroups, nameOfGroup } from "./groups.ts";
import { KeptParts } from "./parts.ts";
import {
  DerivationRecorder,
  type DerivationSource,
  invalidateGroup,
  invalidateMesh,
  invalidateReads,
  isWritten,
} from "./reads.ts";

/** The inputs of an engine. */
export interface DerivationOptions {
  readonly store: ConfigStore;
  readonly facts: FactStore;
  /** The mesh configuration at the start. */
  readonly mesh: MeshConfig;
  /** Gets the derived objects. */
  readonly target: StoreSource;
  /** Called with new findings about derived objects, and with findings that are gone. */
  readonly onFindings: (changes: ReturnType<typeof findingChanges>) => void;
}

/** The inputs of derived objects: one input, or the members of a group. Never empty. */
type Inputs = readonly [DerivationInput, ...DerivationInput[]];

/** The results of an input, or of a group. */
interface Derived {
  readonly objects: ReadonlyMap<string, ConfigObject>;
  readonly findings: readonly Finding[];
  /** See `DerivedGroup`. */
  readonly about?: unknown;
}

const NOTHING: Derived = { objects: new Map(), findings: [] };

/** Runs a derivation. */
export class DerivationEngine {
  readonly #derivation: Derivation;
  readonly #options: DerivationOptions;
  readonly #source: DerivationSource;
  readonly #kinds: ReadonlySet<string>;
  readonly #cache: BuildCache<DerivationSource, Derived, never, Inputs>;
  readonly #groups: InputGroups;
  readonly #parts = new KeptParts();
  /** Checked objects by the derived object that they were made of, with the first input. */
  readonly #completed = new WeakMap<
    DerivedObject,
    { readonly of: DerivationInput; readonly made: CheckedDerivation }
  >();
  #mesh: MeshConfig;
  /** By key of the input, or marked name of the group. */
  readonly #derived = new Map<string, Derived>();
  /** Inputs and groups by the object that they make, in order of their keys. */
  readonly #makers = new Map<string, readonly string[]>();
  /** Why the last derivation of an input threw. */
  readonly #failures = new Map<string, Finding>();
  readonly #stops: readonly (() => void)[];

  /** Derives from all present inputs, and follows changes. */
  constructor(derivation: Derivation, options: DerivationOptions) {
    const { store, facts } = options;
    this.#mesh = options.mesh;
    this.#groups = new InputGroups(derivation.shared);
    this.#derivation = derivation;
    this.#options = options;
    this.#kinds = new Set(derivation.from);
    this.#source = {
      ...{ store, facts, mesh: () => this.#mesh, properties: undefined, view: this },
      members: (group) => this.#groups.members(group),
    };
    this.#cache = new BuildCache(
      (recorder, key, inputs) => this.#derive(key, inputs, new DerivationRecorder(recorder)),
      {
        enabled: true,
        fallback: NOTHING,
        failed: (key, error) => void this.#failures.set(key, this.#failure(key, error)),
      },
    );
    const inputs = derivation.from.flatMap((kind) => [...store.list(kind as Kind), ...facts.list(kind as FactKind)]);
    // The kinds are the kinds that the derivation names. The compiler cannot follow that through the lists.
    const written = inputs.filter(isWritten) as readonly DerivationInput[];
    this.#update([...new Set(written.flatMap((input) => [input.key, ...this.#groups.add(input)]))]);
    this.#stops = [
      store.subscribe((changes) => this.#changed(changes)),
      facts.subscribe((changes) => this.#changed(changes)),
    ];
  }

  /** The present findings about derived objects. */
  findings(): Finding[] {
    const found = [...this.#derived.keys(), ...this.#failures.keys()];
    return [...new Set(found)].flatMap((key) => this.#findingsOf(key)).concat(this.#duplicates(this.#makers.keys()));
  }

  /** Takes another mesh configuration: objects whose derivation read a changed field are derived again. */
  meshChanged(mesh: MeshConfig): void {
    const keys = new InvalidatedKeys();
    invalidateMesh(this.#mesh, mesh, keys);
    this.#mesh = mesh;
    this.#update([...this.#invalidate(keys)].sort());
  }

  /** Derives no more; derived objects stay. */
  stop(): void {
    for (const stop of this.#stops) stop();
  }

  #changed<O extends StoredObject>({ added, updated, removed, refreshed }: ChangeSet<O>): void {
    // A refreshed object of a file is on another line. A refreshed object of an API has another status, and no derivation
    // reads the status.
    const replaced = [...updated, ...refreshed.filter((one) => one.new.origin.from !== "api")];
    const keys = new InvalidatedKeys();
    const inputs = new Set<string>();
    const note = (objects: readonly O[], groupsOf: (input: DerivationInput) => readonly string[]) => {
      for (const object of objects.filter(isWritten)) {
        invalidateReads(object, keys);
        if (!this.#kinds.has(object.kind)) continue;
        inputs.add(object.key);
        // The derivation names this kind.
        for (const group of groupsOf(object as StoredObject as DerivationInput)) {
          inputs.add(group);
          invalidateGroup(nameOfGroup(group)!, keys);
        }
      }
    };
    note([...removed, ...replaced.map((one) => one.old)], (input) => this.#groups.remove(input));
    note([...added, ...replaced.map((one) => one.new)], (input) => this.#groups.add(input));
    for (const key of inputs) this.#cache.drop(key);
    for (const key of this.#invalidate(keys)) inputs.add(key);
    if (inputs.size > 0) this.#update([...inputs].sort());
  }

  /** Drops the results, and the parts of results, whose reads have changed. @returns the keys of their inputs */
  #invalidate(keys: InvalidatedKeys): Set<string> {
    const dropped = this.#cache.invalidate(keys);
    for (const owner of this.#parts.invalidate(keys)) {
      this.#cache.drop(owner);
      dropped.add(owner);
    }
    return dropped;
  }

  #update(inputs: readonly string[]): void {
    const touched = new Set<string>();
    const before = inputs.flatMap((key) => this.#findingsOf(key));
    const old = new Map(inputs.map((key) => [key, this.#derived.get(key) ?? NOTHING]));
    const next = new Map(inputs.map((key) => [key, this.#look(key, old.get(key) ?? NOTHING)]));
    for (const key of inputs) differences(old.get(key) ?? NOTHING, next.get(key) ?? NOTHING, touched);
    before.push(...this.#duplicates(touched));
    for (const [key, derived] of next) this.#replace(key, old.get(key) ?? NOTHING, derived);
    if (touched.size > 0) this.#hand(touched);
    const after = [...inputs.flatMap((key) => this.#findingsOf(key)), ...this.#duplicates(touched)];
    const changes = findingChanges(before, after);
    if (changes.appeared.length + changes.resolved.length > 0) this.#options.onFindings(changes);
  }

  /** The objects from an input; if the derivation throws, the objects of its last run. */
  #look(key: string, old: Derived): Derived {
    this.#failures.delete(key);
    const inputs = this.#inputs(key);
    if (inputs === undefined) return NOTHING;
    const { value, failed } = this.#cache.get(key, this.#source, inputs);
    return failed ? old : value;
  }

  #inputs(key: string): Inputs | undefined {
    if (nameOfGroup(key) === undefined) {
      const input = this.#input(key);
      return input && [input];
    }
    const [first, ...others] = this.#groups.get(key);
    return first && [first, ...others];
  }

  #input(key: string): DerivationInput | undefined {
    const { store, facts } = this.#options;
    const found = store.at(key) ?? facts.at(key);
    return found !== undefined && isWritten(found) ? found as DerivationInput : undefined;
  }

  #derive(key: string, inputs: Inputs, read: DerivationRecorder): Derived {
    const { name, shared } = this.#derivation;
    const group = nameOfGroup(key);
    const result = group === undefined
      ? this.#derivation.derive(inputs[0], read)
      : this.#withParts(key, read, (reader) => shared?.derive(group, inputs, reader) ?? []);
    const { objects: made, ...about } = "objects" in result ? result : { objects: result };
    const objects = new Map<string, ConfigObject>();
    const findings: Finding[] = [];
    for (const derived of made) {
      const { object, findings: ofObject } = this.#complete(derived, derived.of ?? inputs[0], name);
      findings.push(...ofObject);
      if (object !== undefined) objects.set(object.key, object);
    }
    return { objects, findings, ...about };
  }

  #withParts<T>(owner: string, read: DerivationRecorder, run: (read: GroupReader) => T): T {
    const maker = this.#parts.of(owner, this.#source);
    try {
      return run(Object.assign(read, { part: maker.part }));
    } finally {
      maker.end();
    }
  }

  /** Checks an object, unless the same object was checked already. */
  #complete(derived: DerivedObject, of: DerivationInput, source: string): CheckedDerivation {
    const known = this.#completed.get(derived);
    if (known?.of === of) return known.made;
    const made = complete(derived, of, source);
    this.#completed.set(derived, { of, made });
    return made;
  }

  #replace(input: string, old: Derived, next: Derived): void {
    if (next === NOTHING) this.#derived.delete(input);
    else this.#derived.set(input, next);
    const group = nameOfGroup(input);
    if (group !== undefined && old.about !== next.about) this.#derivation.shared?.learned?.(group, next.about);
    for (const key of old.objects.keys()) if (!next.objects.has(key)) this.#makes(input, key, false);
    for (const key of next.objects.keys()) if (!old.objects.has(key)) this.#makes(input, key, true);
  }

  /** Notes whether an input makes an object. */
  #makes(input: string, key: string, isMaker: boolean): void {
    const others = (this.#makers.get(key) ?? []).filter((maker) => maker !== input);
    const makers = isMaker ? [...others, input].sort() : others;
    if (makers.length === 0) this.#makers.delete(key);
    else this.#makers.set(key, makers);
  }

  /** Reports the objects of some keys: for each key the object of the first maker. */
  #hand(keys: Iterable<string>): void {
    const upserted: ConfigObject[] = [];
    const removed: string[] = [];
    for (const key of keys) {
      const [object] = this.#made(key);
      if (object === undefined) removed.push(key);
      else upserted.push(object);
    }
    this.#options.target.apply({ upserted, removed });
  }

  /** All objects with a key, the object of the first maker first. */
  #made(key: string): ConfigObject[] {
    const makers = this.#makers.get(key) ?? [];
    return makers.map((maker) => this.#derived.get(maker)?.objects.get(key)).filter((object) => object !== undefined);
  }

  #duplicates(keys: Iterable<string>): Finding[] {
    return [...keys].flatMap((key) => {
      const [winner, ...losers] = this.#made(key);
      return winner === undefined ? [] : losers.map((loser) => duplicateFinding(loser, winner));
    });
  }

  #findingsOf(key: string): Finding[] {
    const failure = this.#failures.get(key);
    return [...this.#derived.get(key)?.findings ?? [], ...failure === undefined ? [] : [failure]];
  }

  #failure(key: string, error: unknown): Finding {
    const first = this.#inputs(key)?.[0];
    const origin = first?.origin;
    const place = { objects: [objectName(first?.key ?? key)], field: "", line: 0, ...(origin ? { origin } : {}) };
    const reason = errorMessage(error);
    const message = `${this.#derivation.name} failed, its earlier objects stay in force: ${reason}`;
    return { ...fieldFinding("derivation-failed", "error", place, undefined, ""), message };
  }
}

/** Collects the keys of objects that are not the same objects before and after. */
function differences({ objects: before }: Derived, { objects: after }: Derived, touched: Set<string>): void {
  for (const [key, object] of before) if (after.get(key) !== object) touched.add(key);
  for (const key of after.keys()) if (!before.has(key)) touched.add(key);
}

/** A derived object after its check. */
type CheckedDerivation = Pick<ParsedObject, "object" | "findings">;

function complete({ kind, meta, spec }: DerivedObject, of: DerivationInput, source: string): CheckedDerivation {
  const { creationTimestamp } = of.meta;
  const origin: DerivedOrigin = { from: "derived", source, of: of.key, parent: of.origin };
  return objectFromSpec(kind, { labels: {}, annotations: {}, creationTimestamp, ...meta }, spec, origin);
}
