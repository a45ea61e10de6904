/**
 * The folder as a whole, the pure part: contents of files go in, changes of objects come out.
 *
 *     (path, bytes | gone) ──> FileState per file ──> claims per key ──> winner per key ──> changes
 *
 * Of two files with the same object the one whose path sorts first wins; the other is a problem until it goes, or the first goes and it
 * takes over.
 *
 * @module
 */
import { type Finding, findingChanges } from "../config/finding.ts";
import { compareOrigins } from "../config/origin.ts";
import { duplicateFinding } from "../config/overlap.ts";
import type { StoreChanges } from "../config/store.ts";
import type { ConfigObject } from "../config/types.ts";
import { type FileState, type FolderOptions, readFile, unreadableFile } from "./file.ts";

/** What was read of one file. */
export interface FileRead {
  /** Path relative to the folder, with `/`. */
  readonly path: string;
  /** Its content; undefined when it is gone; a phrase (what would be right) when it is there but cannot be read. */
  readonly bytes: Uint8Array | string | undefined;
}

/** What a batch of reads changed. */
export interface FolderChanges extends StoreChanges {
  /** Findings that were not there before. */
  readonly appeared: readonly Finding[];
  /** Findings that are gone. */
  readonly resolved: readonly Finding[];
}

/** All files of a folder. */
export class FolderIndex {
  readonly #options: FolderOptions;
  readonly #files = new Map<string, FileState>();
  /** Who has an object with this key: the usual single owner as itself, several as a map by path. */
  readonly #claims = new Map<string, ConfigObject | Map<string, ConfigObject>>();
  readonly #duplicates = new Map<string, readonly Finding[]>();

  /** @param options How files are read. */
  constructor(options: FolderOptions) {
    this.#options = options;
  }

  /** Paths of all files that are known. */
  get paths(): readonly string[] {
    return [...this.#files.keys()];
  }

  /** The state of one file. */
  file(path: string): FileState | undefined {
    return this.#files.get(path);
  }

  /** Everything that is wrong now, by path and line. */
  findings(): readonly Finding[] {
    const all = [...this.#files.values()].flatMap((file) => file.findings).concat(...this.#duplicates.values());
    return all.sort(byPlace);
  }

  /** Takes what was read; cheap for what did not change. Never throws. */
  apply(reads: readonly FileRead[]): FolderChanges {
    const touched = new Map<string, ConfigObject | undefined>();
    const before: Finding[] = [];
    const after: Finding[] = [];
    for (const { path, bytes } of reads) {
      const old = this.#files.get(path);
      const next = this.#read(path, bytes);
      if (old !== undefined) before.push(...old.findings);
      if (next !== undefined) after.push(...next.findings);
      if (next === undefined) this.#files.delete(path);
      else this.#files.set(path, next);
      this.#claim(path, old, next, touched);
    }
    const upserted: ConfigObject[] = [];
    const removed: string[] = [];
    for (const [key, old] of touched) {
      const now = this.#winner(key);
      if (now === undefined) removed.push(key);
      else if (now !== old) upserted.push(now);
      before.push(...(this.#duplicates.get(key) ?? []));
      after.push(...this.#noteDuplicates(key, now));
    }
    return {
      upserted,
      removed: removed.filter((key) => touched.get(key) !== undefined),
      ...findingChanges(before, after),
    };
  }

  #read(path: string, bytes: FileRead["bytes"]): FileState | undefined {
    if (bytes === undefined) return undefined;
    const old = this.#files.get(path);
    return typeof bytes === "string"
      ? unreadableFile(old, path, this.#options, bytes)
      : readFile(old, path, bytes, this.#options);
  }

  #claim(
    path: string,
    old: FileState | undefined,
    next: FileState | undefined,
    touched: Map<string, ConfigObject | undefined>,
  ): void {
    for (const [key, object] of next?.objects ?? []) {
      if (old?.objects.get(key) === object) continue;
      if (!touched.has(key)) touched.set(key, this.#winner(key));
      this.#setClaim(key, path, object);
    }
    for (const key of old?.objects.keys() ?? []) {
      if (next?.objects.has(key)) continue;
      if (!touched.has(key)) touched.set(key, this.#winner(key));
      this.#setClaim(key, path, undefined);
    }
  }

  #setClaim(key: string, path: string, object: ConfigObject | undefined): void {
    const claim = this.#claims.get(key);
    const several = claim instanceof Map ? claim : new Map(claim === undefined ? [] : [[fileOf(claim), claim]]);
    if (object === undefined) several.delete(path);
    else several.set(path, object);
    const [first] = several.values();
    if (first === undefined) this.#claims.delete(key);
    else this.#claims.set(key, several.size === 1 ? first : several);
  }

  #winner(key: string): ConfigObject | undefined {
    const claim = this.#claims.get(key);
    if (!(claim instanceof Map)) return claim;
    const [path] = [...claim.keys()].sort(compare);
    return path === undefined ? undefined : claim.get(path);
  }

  #noteDuplicates(key: string, winner: ConfigObject | undefined): readonly Finding[] {
    const claim = this.#claims.get(key);
    if (!(claim instanceof Map) || winner === undefined) {
      this.#duplicates.delete(key);
      return [];
    }
    const found = [...claim.values()].filter((one) => one !== winner).map((one) => duplicateFinding(one, winner));
    this.#duplicates.set(key, found);
    return found;
  }
}

/** The file of an object of this folder. */
function fileOf({ origin }: ConfigObject): string {
  return origin.from === "file" ? origin.file : "";
}

function byPlace({ place: a }: Finding, { place: b }: Finding): number {
  const origins = a.origin === undefined || b.origin === undefined ? 0 : compareOrigins(a.origin, b.origin);
  return origins || a.line - b.line || compare(a.field, b.field);
}

/** By code unit: the same order everywhere, whatever the language of the machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
