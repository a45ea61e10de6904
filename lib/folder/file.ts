/**
 * A file of the folder: the documents, the objects from the file, and the findings.
 *
 * When a file is read again, only changed documents are parsed; the other documents keep their objects. Unchanged
 * documents are found by hashes of their bytes, so no bytes are kept.
 *
 * Broken content keeps its last good version. The last good version of a refused object is the object of the same kind,
 * namespace and name. For a document without a readable kind and name, the last good version is everything at the place
 * of the document.
 *
 * @module
 */
import { type DocumentContent, type DocumentOptions, parseDocumentSteps } from "../config/document/document.ts";
import { fieldFinding, type Finding, movedFinding } from "../finding/finding.ts";
import { movedObject } from "../config/hashed_object.ts";
import { duplicateFinding, variantsFinding } from "../config/overlap.ts";
import type { ConfigObject } from "../config/types.ts";
import { HashedFact } from "../config/facts/hashed_fact.ts";
import { type AnyFact, isFactKind } from "../config/facts/types.ts";
import { KINDS } from "../config/kinds/kinds.ts";
import { documentText } from "../config/yaml/split.ts";
import { documentRanges } from "./document_ranges.ts";
import { hashBytes } from "./hash.ts";

/** Largest file, bytes. */
export const MAX_FILE_SIZE = 64 * 1024 * 1024;

/** How the files of a folder are read. */
export interface FolderOptions extends DocumentOptions {
  /** Name of the folder as a source of configuration; see `FileOrigin`. */
  readonly source: string;
}

/** An object from a file: configuration, or a fact from a manifest. */
export type FolderObject = ConfigObject | AnyFact;

/** A document of a file. */
export interface FileDocument {
  /** Line of the document's beginning in the file, from 1. */
  readonly line: number;
  /** Hash of the document's bytes. */
  readonly hash: number;
  /**
   * Absent: the document holds only objects and facts, and all of them live. Nearly all of many thousand documents are
   * such documents.
   */
  readonly content?: DocumentContent;
  /** The objects in force: objects and facts of the content, and the last good versions of refused objects. */
  readonly live: readonly FolderObject[];
}

/** A file as read. Immutable. */
export interface ReadFileState {
  readonly path: string;
  /** Whether the last line ends with a newline. */
  readonly endsLine: boolean;
  readonly documents: readonly FileDocument[];
  /** The objects of the file by key; of duplicates, the first. */
  readonly objects: ReadonlyMap<string, FolderObject>;
  readonly findings: readonly Finding[];
  /** Counts of the content that is passed over, by kind. */
  readonly passedOver: ReadonlyMap<string, number>;
  /** Keys of objects that live only in their last good version, because the present text is refused. */
  readonly stale: ReadonlySet<string>;
}

/**
 * Whether bytes look like the beginning of a write: the file is empty, or ends without the newline of the last read.
 * The reader then waits for the next event, or a moment, before it takes the bytes.
 */
export function looksTruncated(previous: ReadFileState | undefined, bytes: Uint8Array): boolean {
  if (previous === undefined || previous.objects.size === 0) return false;
  return bytes.length === 0 || (previous.endsLine && bytes.at(-1) !== NEWLINE);
}

const NEWLINE = 10;

/**
 * Reads a file's bytes into a new state, a document or object per step. Never throws.
 *
 * @param previous The state before, if there was one.
 */
export function* readFile(
  previous: ReadFileState | undefined,
  path: string,
  bytes: Uint8Array,
  options: FolderOptions,
): Generator<void, ReadFileState> {
  if (bytes.length > MAX_FILE_SIZE) {
    return unreadableFile(previous, path, options, `at most ${MAX_FILE_SIZE} bytes (this file has ${bytes.length})`);
  }
  try {
    return yield* readDocuments(previous, path, bytes, options);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return unreadableFile(previous, path, options, "UTF-8 text");
  }
}

/** @throws TypeError when the bytes are not UTF-8 */
function* readDocuments(
  previous: ReadFileState | undefined,
  path: string,
  bytes: Uint8Array,
  options: FolderOptions,
): Generator<void, ReadFileState> {
  const format = path.endsWith(".json") ? "json" : "yaml";
  const ranges = documentRanges(path, bytes);
  const old = previous?.documents ?? [];
  // The first of equal documents is the last of its list: there may be very many.
  const known = new Map<number, number[]>();
  for (let index = old.length - 1; index >= 0; index--) {
    const { hash } = old[index]!;
    const same = known.get(hash);
    if (same === undefined) known.set(hash, [index]);
    else same.push(index);
  }
  const matched: (number | undefined)[] = [];
  const read: ReadDocument[] = [];
  for (const range of ranges) {
    const { line } = range;
    const hash = hashBytes(bytes, range.start, range.end);
    const match = known.get(hash)?.pop();
    matched.push(match);
    const before = match === undefined ? undefined : old[match];
    if (before !== undefined) read.push({ line, hash, content: moveContent(contentOf(before), line - before.line) });
    else {
      const place = { source: options.source, file: path, line, format } as const;
      read.push({ line, hash, content: yield* parseDocumentSteps(documentText(bytes, range), place, options) });
    }
    yield;
  }
  return assemble(path, bytes.at(-1) === NEWLINE, bringToLife(read, matched, previous));
}

/** A document in its present text. */
interface ReadDocument extends Pick<FileDocument, "line" | "hash"> {
  readonly content: DocumentContent;
}

/** All content of a document. */
export function contentOf({ content, live }: FileDocument): DocumentContent {
  if (content !== undefined) return content;
  return {
    objects: live.filter((object): object is ConfigObject => !isFactKind(object.kind)),
    facts: live.filter((object): object is AnyFact => isFactKind(object.kind)),
    ...NOTHING_ELSE,
  };
}

const NOTHING_ELSE: Omit<DocumentContent, "objects" | "facts"> = { refused: [], findings: [], passedOver: [] };

function isPlain({ refused, findings, passedOver }: DocumentContent): boolean {
  return refused.length + findings.length + passedOver.length === 0;
}

/** A file that cannot be read keeps all its content. `expected` is the expectation. */
export function unreadableFile(
  previous: ReadFileState | undefined,
  path: string,
  { source }: FolderOptions,
  expected: string,
): ReadFileState {
  const origin = { from: "file", source, file: path, line: 0, within: "" } as const;
  const place = { objects: [], field: "file", origin, line: 0 };
  const found = fieldFinding("unreadable-file", "error", place, undefined, expected);
  return {
    path,
    endsLine: previous?.endsLine ?? false,
    documents: previous?.documents ?? [],
    objects: previous?.objects ?? new Map(),
    findings: [{ ...found, message: `the file is not readable, expected ${expected}` }],
    passedOver: previous?.passedOver ?? NONE,
    stale: new Set(previous?.objects.keys()),
  };
}

/** The same content some lines further down. */
function moveContent(content: DocumentContent, by: number): DocumentContent {
  if (by === 0) return content;
  return {
    ...content,
    objects: content.objects.map((object) => movedObject(object, by)),
    // `readFact` reads all facts of files, and makes only this class.
    facts: content.facts.map((fact) => (fact instanceof HashedFact ? fact.moved(by) as AnyFact : fact)),
    findings: content.findings.map((found) => movedFinding(found, by)),
  };
}

/** Decides which objects live, and keeps the last good versions of refused objects. */
function bringToLife(
  read: readonly ReadDocument[],
  matched: readonly (number | undefined)[],
  previous: ReadFileState | undefined,
): FileDocument[] {
  const anyRefused = read.some(({ content }) => content.refused.length > 0);
  const taken = new Set<string>();
  if (anyRefused) {
    for (const { content } of read) for (const { key } of [...content.objects, ...content.facts]) taken.add(key);
  }
  const given = new Set<string>();
  const places = anyRefused && previous !== undefined ? formerPlaces(matched, previous) : [];
  return read.map(({ line, hash, content }, index) => {
    const kept = content.refused.length === 0 || previous === undefined
      ? []
      : lastGood(content, places[index]!, previous, given).filter(({ key }) => !taken.has(key));
    for (const object of kept) taken.add(object.key);
    const own = content.facts.length === 0
      ? content.objects
      : (content.objects as readonly FolderObject[]).concat(content.facts);
    if (kept.length > 0) return { line, hash, content, live: [...own, ...kept] };
    if (isPlain(content)) return { line, hash, live: own };
    return {
      line,
      hash,
      content: content.unless === undefined ? content : passedOver(content, content.unless),
      live: own,
    };
  });
}

/**
 * The content passed over: no object of ours stood at this place, and the text does not look like an attempt at one.
 */
function passedOver(content: DocumentContent, label: string): DocumentContent {
  return { ...content, refused: [], findings: [], passedOver: [...content.passedOver, label] };
}

/** @param given The places whose objects an earlier document has kept: the next documents there keep none. */
function lastGood(
  content: DocumentContent,
  { from, to }: FormerPlace,
  previous: ReadFileState,
  given: Set<string>,
): FolderObject[] {
  const kept: FolderObject[] = [];
  for (const { kind, namespace, name } of content.refused) {
    // A manifest without a name takes nobody's place.
    if (name === "" && isFactKind(kind)) continue;
    const isKnown = isFactKind(kind) || (KINDS as readonly string[]).includes(kind);
    if (name === "" || !isKnown) {
      const place = `${from}-${to}`;
      if (given.has(place)) continue;
      given.add(place);
      for (let at = from; at < to; at++) kept.push(...previous.documents[at]!.live);
      continue;
    }
    const object = previous.objects.get(`${kind}/${namespace}/${name}`);
    if (object !== undefined) kept.push(object);
  }
  return kept;
}

/** The former documents in whose place a document stands: `from` is the first, `to` is behind the last. */
interface FormerPlace {
  readonly from: number;
  readonly to: number;
}

/** For each document the former document that is equal, or those between the nearest unchanged documents. */
function formerPlaces(matched: readonly (number | undefined)[], previous: ReadFileState): FormerPlace[] {
  const places = new Array<FormerPlace>(matched.length);
  let to = previous.documents.length;
  for (let at = matched.length - 1; at >= 0; at--) {
    const match = matched[at];
    places[at] = { from: 0, to };
    if (match !== undefined) to = match;
  }
  let from = 0;
  for (const [at, match] of matched.entries()) {
    places[at] = match === undefined ? { from, to: places[at]!.to } : { from: match, to: match + 1 };
    if (match !== undefined) from = match + 1;
  }
  return places;
}

const NONE: ReadonlyMap<string, number> = new Map();

function assemble(path: string, endsLine: boolean, documents: readonly FileDocument[]): ReadFileState {
  const objects = new Map<string, FolderObject>();
  const findings: Finding[] = [];
  const stale = new Set<string>();
  const passedOver = new Map<string, number>();
  for (const { content, live } of documents) {
    findings.push(...content?.findings ?? []);
    for (const label of content?.passedOver ?? []) passedOver.set(label, (passedOver.get(label) ?? 0) + 1);
    live.forEach((object, index) => {
      const first = objects.get(object.key);
      if (first !== undefined) findings.push(...duplicates([object], first));
      else {
        objects.set(object.key, object);
        if (content !== undefined && index >= content.objects.length + content.facts.length) stale.add(object.key);
      }
    });
  }
  return { path, endsLine, documents, objects, findings, stale, passedOver: passedOver.size === 0 ? NONE : passedOver };
}

/**
 * The findings about objects that another object of the folder shadows: a finding for each object of the same
 * subfolder, and a single finding for all variants in other subfolders. Manifests have no such findings: variants of a
 * manifest say the same.
 */
export function duplicates(losers: readonly FolderObject[], winner: FolderObject): Finding[] {
  if (isFactKind(winner.kind)) return [];
  const { beside = [], elsewhere = [] } = Object.groupBy(
    losers,
    (loser) => subfolderOf(loser) === subfolderOf(winner) ? "beside" : "elsewhere",
  );
  const [first, ...more] = elsewhere.toSorted((a, b) => fileOf(a) < fileOf(b) ? -1 : 1);
  return [
    ...beside.map((loser) => duplicateFinding(loser, winner)),
    ...first === undefined ? [] : [variantsFinding([first, ...more], winner)],
  ];
}

/** The file of an object of a folder. */
export function fileOf({ origin }: FolderObject): string {
  return origin.from === "file" ? origin.file : "";
}

function subfolderOf(object: FolderObject): string {
  const file = fileOf(object);
  return file.slice(0, file.lastIndexOf("/") + 1);
}
