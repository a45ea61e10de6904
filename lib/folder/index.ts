/**
 * The folder as a whole, the pure part: contents of files go in, changes of objects and facts come out.
 *
 *     (path, bytes | gone) ──> FileState per file ──> owners per key ──> winner per key ──> changes
 *
 * Of two files with the same object the one whose path sorts first wins; the other one is a finding until either goes. Of
 * manifests, variants are common, so they win silently.
 *
 * @module
 */
import { type Finding, findingChanges } from "../finding/finding.ts";
import { compareOrigins } from "../finding/origin.ts";
import type { StoreChanges } from "../config/store.ts";
import { type AnyFact, isFactKind } from "../config/facts/types.ts";
import type { ConfigObject } from "../config/types.ts";
import { ValuePool } from "../config/schema/value_pool.ts";
import { unpaced } from "../kernel/time/paced.ts";
import {
  duplicates,
  fileOf,
  type FolderObject,
  type FolderOptions,
  readFile,
  type ReadFileState,
  unreadableFile,
} from "./file.ts";

/** The read of one file. */
export interface FileRead {
  /** Path relative to the folder, with `/`. */
  readonly path: string;
  /** Its content; undefined when it is gone; a phrase (what would be right) when it is there but cannot be read. */
  readonly bytes: Uint8Array | string | undefined;
}

/** The changes of a batch of reads. */
export interface FolderChanges extends StoreChanges {
  /** The changes of facts from manifests. */
  readonly facts: StoreChanges<AnyFact>;
  /** Findings that were not there before. */
  readonly appeared: readonly Finding[];
  /** Findings that are gone. */
  readonly resolved: readonly Finding[];
}

/** A batch of reads that comes in parts, so that the bytes of all files need not be there at once. */
export interface FolderReading {
  /** Takes some files, each of the batch once; cheap for those that did not change. In steps of some milliseconds. */
  take(reads: Iterable<FileRead>): Generator<void, void>;
  /** All files have been taken. Until this is done the index may have the old state, or half the new. In steps too. */
  end(): Generator<void, FolderChanges>;
}

/** The state of a batch so far. */
interface ReadingState {
  readonly options: FolderOptions;
  /** Findings of its files before and now. */
  readonly before: Finding[];
  readonly after: Finding[];
  /** The winners before, by key. */
  readonly affected: Map<string, FolderObject | undefined>;
}

/** Something that is passed over. */
export interface PassedOver {
  /** How many there are in all files. */
  readonly count: number;
  /** The first files that have any, by path. */
  readonly files: readonly string[];
}

/** Files that are named for one thing that is passed over. */
const FILES_NAMED = 5;

/** Keys whose winners are found in one step. */
const KEYS_A_STEP = 500;

/** All files of a folder. */
export class FolderIndex {
  readonly #options: FolderOptions;
  readonly #files = new Map<string, ReadFileState>();
  /** The objects with a key: a lone one as itself, those of several files as a map by path. */
  readonly #owned = new Map<string, FolderObject | Map<string, FolderObject>>();
  readonly #duplicates = new Map<string, readonly Finding[]>();

  /** @param options How files are read. */
  constructor(options: FolderOptions) {
    const facts = options.facts ?? { digestKey: crypto.getRandomValues(new Uint8Array(32)) };
    this.#options = { ...options, facts };
  }

  /** Paths of all files that are known. */
  get paths(): readonly string[] {
    return [...this.#files.keys()];
  }

  /** The state of one file. */
  file(path: string): ReadFileState | undefined {
    return this.#files.get(path);
  }

  /** Everything that is wrong now, by path and line. */
  findings(): readonly Finding[] {
    const inFiles = [...this.#files.values()].flatMap((file) => file.findings);
    return inFiles.concat([...this.#duplicates.values()].flat()).sort(byPlace);
  }

  /** Content of the files that is neither configuration nor a fact, by its kind (see `lib/config/document/manifest.ts`). */
  passedOver(): Map<string, PassedOver> {
    const found = new Map<string, { count: number; files: string[] }>();
    for (const path of [...this.#files.keys()].sort(compare)) {
      for (const [label, count] of this.#files.get(path)!.passedOver) {
        const there = found.get(label);
        if (there === undefined) found.set(label, { count, files: [path] });
        else {
          there.count += count;
          if (there.files.length < FILES_NAMED) there.files.push(path);
        }
      }
    }
    return found;
  }

  /** Takes the files that were read; cheap for those that did not change. Never throws. */
  apply(reads: readonly FileRead[]): FolderChanges {
    return unpaced(this.applySteps(reads));
  }

  /** The same in steps of some milliseconds. The index is whole again when they are done. */
  *applySteps(reads: Iterable<FileRead>): Generator<void, FolderChanges> {
    const reading = this.begin();
    yield* reading.take(reads);
    return yield* reading.end();
  }

  /** Begins a batch whose reads come in parts; the one before it must have ended. */
  begin(): FolderReading {
    const options = { ...this.#options, pool: new ValuePool() };
    const state: ReadingState = { options, before: [], after: [], affected: new Map() };
    return { take: (reads) => this.#take(state, reads), end: () => this.#end(state) };
  }

  /** One step a document, and one a file. */
  *#take({ options, before, after, affected }: ReadingState, reads: Iterable<FileRead>): Generator<void, void> {
    for (const { path, bytes } of reads) {
      const old = this.#files.get(path);
      const next = yield* this.#read(old, path, bytes, options);
      for (const finding of old?.findings ?? []) before.push(finding);
      for (const finding of next?.findings ?? []) after.push(finding);
      if (next === undefined) this.#files.delete(path);
      else this.#files.set(path, next);
      this.#setOwned(path, old, next, affected);
      yield;
    }
  }

  *#end({ before, after, affected }: ReadingState): Generator<void, FolderChanges> {
    const changes = { upserted: [] as ConfigObject[], removed: [] as string[] };
    const facts = { upserted: [] as AnyFact[], removed: [] as string[] };
    let count = 0;
    for (const [key, old] of affected) {
      const now = this.#winner(key);
      if (now === undefined && old !== undefined) (isFact(old) ? facts : changes).removed.push(key);
      if (now !== undefined && now !== old) isFact(now) ? facts.upserted.push(now) : changes.upserted.push(now);
      for (const finding of this.#duplicates.get(key) ?? []) before.push(finding);
      for (const finding of this.#noteDuplicates(key, now)) after.push(finding);
      if (++count % KEYS_A_STEP === 0) yield;
    }
    return { ...changes, facts, ...findingChanges(before, after) };
  }

  *#read(
    old: ReadFileState | undefined,
    path: string,
    bytes: FileRead["bytes"],
    options: FolderOptions,
  ): Generator<void, ReadFileState | undefined> {
    if (bytes === undefined) return undefined;
    if (typeof bytes === "string") return unreadableFile(old, path, options, bytes);
    return yield* readFile(old, path, bytes, options);
  }

  /** Notes the objects that a file has now, and for each key that is affected the object that was in force before. */
  #setOwned(
    path: string,
    old: ReadFileState | undefined,
    next: ReadFileState | undefined,
    affected: Map<string, FolderObject | undefined>,
  ): void {
    for (const [key, object] of next?.objects ?? []) {
      if (old?.objects.get(key) === object) continue;
      if (!affected.has(key)) affected.set(key, this.#winner(key));
      this.#setOwner(key, path, object);
    }
    for (const key of old?.objects.keys() ?? []) {
      if (next?.objects.has(key)) continue;
      if (!affected.has(key)) affected.set(key, this.#winner(key));
      this.#setOwner(key, path, undefined);
    }
  }

  #setOwner(key: string, path: string, object: FolderObject | undefined): void {
    const owned = this.#owned.get(key);
    if (owned === undefined || (!(owned instanceof Map) && fileOf(owned) === path)) {
      if (object === undefined) this.#owned.delete(key);
      else this.#owned.set(key, object);
      return;
    }
    const several = owned instanceof Map ? owned : new Map([[fileOf(owned), owned]]);
    if (object === undefined) several.delete(path);
    else several.set(path, object);
    const [first] = several.values();
    this.#owned.set(key, several.size === 1 ? first! : several);
  }

  #winner(key: string): FolderObject | undefined {
    const owned = this.#owned.get(key);
    if (!(owned instanceof Map)) return owned;
    const [path] = [...owned.keys()].sort(compare);
    return path === undefined ? undefined : owned.get(path);
  }

  #noteDuplicates(key: string, winner: FolderObject | undefined): readonly Finding[] {
    const owned = this.#owned.get(key);
    if (!(owned instanceof Map) || winner === undefined) {
      this.#duplicates.delete(key);
      return [];
    }
    const found = duplicates([...owned.values()].filter((one) => one !== winner), winner);
    this.#duplicates.set(key, found);
    return found;
  }
}

function isFact(object: FolderObject): object is AnyFact {
  return isFactKind(object.kind);
}

function byPlace({ place: a }: Finding, { place: b }: Finding): number {
  const origins = a.origin === undefined || b.origin === undefined ? 0 : compareOrigins(a.origin, b.origin);
  return origins || a.line - b.line || compare(a.field, b.field);
}

/** By code unit: the same order on every machine, independent of its language. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
