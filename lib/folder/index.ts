/**
 * The folder as a whole, the pure part: contents of files go in, changes of objects and facts come out.
 *
 *     (path, bytes | gone) ──> FileState per file ──> owners per key ──> winner per key ──> changes
 *
 * If two files hold the same object, the file with the first path in sorted order wins. The other file's object is a
 * finding until either file goes. Variants of manifests are common, so a manifest wins silently. A file that is gone,
 * perhaps only for a moment, keeps its objects, but the same object of a file that is there wins: a renamed file is in
 * force under its new name at once, and there is no state without its objects.
 *
 * An object that no file has any more lives on in a file that holds a refused text of the object.
 *
 * @module
 */
import { compareTexts } from "../kernel/text/compare.ts";
import { type Finding, findingChanges } from "../finding/finding.ts";
import { compareOrigins } from "../finding/origin.ts";
import type { StoreChanges } from "../config/store.ts";
import { type AnyFact, isFactKind } from "../config/facts/types.ts";
import type { ConfigObject } from "../config/types.ts";
import { refusedKeys, withLastGood } from "./adoption.ts";
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

/** The read of a file. */
export interface FileRead {
  /** Path relative to the folder, with `/`. */
  readonly path: string;
  /** The content; undefined: the file is gone; a phrase with the expectation: the file cannot be read. */
  readonly bytes: Uint8Array | string | undefined;
  /** The file is gone, perhaps only for a moment: its objects stay, and yield to the same objects of other files. */
  readonly isHeldBack?: true;
}

/** The changes of a batch of reads. */
export interface FolderChanges extends StoreChanges {
  /** The changes of facts from manifests. */
  readonly facts: StoreChanges<AnyFact>;
  /** New findings. */
  readonly appeared: readonly Finding[];
  /** Earlier findings that are gone. */
  readonly resolved: readonly Finding[];
}

/** A batch of reads in parts, so that the bytes of all files need not be in memory at once. */
export interface FolderReading {
  /** Takes some files of the batch, each file once, in steps of some milliseconds. Unchanged files cost little. */
  take(reads: Iterable<FileRead>): Generator<void, void>;
  /** Ends the batch, in steps. Before its end the index may hold the old state, or half of the new state. */
  end(): Generator<void, FolderChanges>;
}

/** The state of a batch so far. */
interface ReadingState {
  readonly options: FolderOptions;
  /** Findings of the batch's files before and now. */
  readonly before: Finding[];
  readonly after: Finding[];
  /** The winners before, by key. */
  readonly affected: Map<string, FolderObject | undefined>;
}

/** A sort of content that is passed over. */
export interface PassedOver {
  /** The number of documents in all files. */
  readonly count: number;
  /** The first files with such content, by path. */
  readonly files: readonly string[];
}

/** Most files named for a sort of content. */
const FILES_NAMED = 5;

/** Limit of keys in a step that finds winners. */
const KEYS_A_STEP = 500;

/** All files of a folder. */
export class FolderIndex {
  readonly #options: FolderOptions;
  readonly #files = new Map<string, ReadFileState>();
  /** Paths of files that are gone, perhaps only for a moment. */
  readonly #missing = new Set<string>();
  /** The objects with a key: a single object as itself, objects of several files as a map by path. */
  readonly #owned = new Map<string, FolderObject | Map<string, FolderObject>>();
  /** Paths of files that hold refused texts. */
  readonly #refusing = new Set<string>();
  readonly #duplicates = new Map<string, readonly Finding[]>();

  /** @param options How files are read. */
  constructor(options: FolderOptions) {
    const facts = options.facts ?? { digestKey: crypto.getRandomValues(new Uint8Array(32)) };
    this.#options = { ...options, facts };
  }

  /** Paths of all known files. */
  get paths(): readonly string[] {
    return [...this.#files.keys()];
  }

  /** The state of a file. */
  file(path: string): ReadFileState | undefined {
    return this.#files.get(path);
  }

  /** All present findings, by path and line. */
  findings(): readonly Finding[] {
    const inFiles = [...this.#files.values()].flatMap((file) => file.findings);
    return inFiles.concat([...this.#duplicates.values()].flat()).sort(byPlace);
  }

  /** Content that is neither configuration nor a fact, by kind (see `lib/config/document/manifest.ts`). */
  passedOver(): Map<string, PassedOver> {
    const found = new Map<string, { count: number; files: string[] }>();
    for (const path of [...this.#files.keys()].sort(compareTexts)) {
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

  /** Takes the files that were read. Unchanged files cost little. Never throws. */
  apply(reads: readonly FileRead[]): FolderChanges {
    return unpaced(this.applySteps(reads));
  }

  /**
   * Like {@linkcode FolderIndex.apply}, in steps of some milliseconds. The index is whole again after the last step.
   */
  *applySteps(reads: Iterable<FileRead>): Generator<void, FolderChanges> {
    const reading = this.begin();
    yield* reading.take(reads);
    return yield* reading.end();
  }

  /** Begins a batch whose reads come in parts. The batch before must have ended. */
  begin(): FolderReading {
    const options = { ...this.#options, pool: new ValuePool() };
    const state: ReadingState = { options, before: [], after: [], affected: new Map() };
    return { take: (reads) => this.#take(state, reads), end: () => this.#end(state) };
  }

  /** A step per document, and a step per file. */
  *#take({ options, before, after, affected }: ReadingState, reads: Iterable<FileRead>): Generator<void, void> {
    for (const { path, bytes, isHeldBack } of reads) {
      const old = this.#files.get(path);
      if (isHeldBack && (old === undefined || this.#missing.has(path))) continue;
      // The winners change although no object does.
      if (isHeldBack || this.#missing.has(path)) this.#noteWinners(old?.objects.keys() ?? [], affected);
      if (isHeldBack) {
        this.#missing.add(path);
        yield;
        continue;
      }
      this.#missing.delete(path);
      const next = yield* this.#read(old, path, bytes, options);
      for (const finding of old?.findings ?? []) before.push(finding);
      for (const finding of next?.findings ?? []) after.push(finding);
      if (next === undefined) this.#files.delete(path);
      else this.#files.set(path, next);
      if (next !== undefined && refusedKeys(next).length > 0) this.#refusing.add(path);
      else this.#refusing.delete(path);
      this.#setOwned(path, old, next, affected);
      yield;
    }
  }

  *#end({ before, after, affected }: ReadingState): Generator<void, FolderChanges> {
    const changes = { upserted: [] as ConfigObject[], removed: [] as string[] };
    const facts = { upserted: [] as AnyFact[], removed: [] as string[] };
    let count = 0;
    this.#adopt(affected);
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

  /** Gives the objects that no file has any more to the first files that hold refused texts of them. */
  #adopt(affected: ReadonlyMap<string, FolderObject | undefined>): void {
    let refusing: Map<string, string> | undefined;
    for (const [key, old] of affected) {
      if (old === undefined || this.#owned.has(key)) continue;
      refusing ??= this.#refusingFiles();
      const path = refusing.get(key);
      const state = path === undefined ? undefined : this.#files.get(path);
      if (path === undefined || state === undefined) continue;
      const next = withLastGood(state, old);
      this.#files.set(path, next);
      this.#setOwner(key, path, next.objects.get(key));
    }
  }

  /** For each refused text's key the first file with such a text. */
  #refusingFiles(): Map<string, string> {
    const found = new Map<string, string>();
    for (const path of [...this.#refusing].sort(compareTexts)) {
      if (this.#missing.has(path)) continue;
      for (const key of refusedKeys(this.#files.get(path)!)) if (!found.has(key)) found.set(key, path);
    }
    return found;
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

  /** Notes the objects that are in force before the batch changes them. */
  #noteWinners(keys: Iterable<string>, affected: Map<string, FolderObject | undefined>): void {
    for (const key of keys) if (!affected.has(key)) affected.set(key, this.#winner(key));
  }

  /** Notes the present objects of a file, and for each affected key the object that was in force before. */
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
    const paths = [...owned.keys()].sort(compareTexts);
    const path = paths.find((one) => !this.#missing.has(one)) ?? paths[0];
    return path === undefined ? undefined : owned.get(path);
  }

  #noteDuplicates(key: string, winner: FolderObject | undefined): readonly Finding[] {
    const owned = this.#owned.get(key);
    if (!(owned instanceof Map) || winner === undefined) {
      this.#duplicates.delete(key);
      return [];
    }
    const losers = [...owned].flatMap(([path, one]) => one === winner || this.#missing.has(path) ? [] : [one]);
    const found = duplicates(losers, winner);
    this.#duplicates.set(key, found);
    return found;
  }
}

function isFact(object: FolderObject): object is AnyFact {
  return isFactKind(object.kind);
}

function byPlace({ place: a }: Finding, { place: b }: Finding): number {
  const origins = a.origin === undefined || b.origin === undefined ? 0 : compareOrigins(a.origin, b.origin);
  return origins || a.line - b.line || compareTexts(a.field, b.field);
}
