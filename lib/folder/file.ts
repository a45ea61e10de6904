/**
 * One file of the folder: its documents, the objects that it contributes, and what is wrong with it.
 *
 * A re-read costs what changed: documents whose text was there before keep their parsed objects. What is broken keeps its last good
 * version: a refused object by kind, namespace and name; a document that does not even tell those, everything that stood in its place.
 *
 * @module
 */
import { type DocumentContent, parseDocumentSteps } from "../config/document.ts";
import { fieldFinding, type Finding, movedFinding } from "../config/finding/finding.ts";
import { movedObject } from "../config/hashed_object.ts";
import type { ParseOptions } from "../config/object.ts";
import { duplicateFinding } from "../config/overlap.ts";
import { type ConfigObject, objectKey } from "../config/types.ts";
import { KINDS } from "../config/kinds/kinds.ts";
import { type DocumentRange, documentText, type Recut, recutDocuments, splitDocuments } from "../config/yaml/split.ts";

/** Largest file, bytes. */
export const MAX_FILE_SIZE = 64 * 1024 * 1024;

/** How the files of a folder are read. */
export interface FolderOptions extends ParseOptions {
  /** Name of the folder as a source of configuration; see `FileOrigin`. */
  readonly source: string;
}

/** One document of a file. */
export interface FileDocument {
  readonly range: DocumentRange;
  readonly content: DocumentContent;
  /** Objects that live: those of the content, and the last good versions of what the content refuses. */
  readonly live: readonly ConfigObject[];
}

/** One file. Immutable. */
export interface FileState {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly documents: readonly FileDocument[];
  /** What the file contributes, by key; of duplicates the first. */
  readonly objects: ReadonlyMap<string, ConfigObject>;
  readonly findings: readonly Finding[];
  /** Keys of objects that live in their last good version only, because what is written now is refused. */
  readonly stale: ReadonlySet<string>;
}

/**
 * Whether bytes look like a write that has only begun: nothing at all, or no end of line where there was one. The reader then waits for
 * the next event, or a moment, before it takes them as they are.
 */
export function looksTruncated(previous: FileState | undefined, bytes: Uint8Array): boolean {
  if (previous === undefined || previous.objects.size === 0) return false;
  return bytes.length === 0 || (previous.bytes.at(-1) === NEWLINE && bytes.at(-1) !== NEWLINE);
}

const NEWLINE = 10;

/**
 * Reads a file's bytes into a new state, one document or object a step. Never throws.
 *
 * @param previous The state before, when there was one.
 */
export function* readFile(
  previous: FileState | undefined,
  path: string,
  bytes: Uint8Array,
  options: FolderOptions,
): Generator<void, FileState> {
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
  previous: FileState | undefined,
  path: string,
  bytes: Uint8Array,
  options: FolderOptions,
): Generator<void, FileState> {
  const format = path.endsWith(".json") ? "json" : "yaml";
  const { ranges, sameBefore, sameAfter } = cut(previous, bytes, format);
  const old = previous?.documents ?? [];
  const firstAfter = ranges.length - sameAfter;
  // Documents in between that only moved are found by their text.
  const moved = new Map<string, number[]>();
  for (let index = sameBefore; index < old.length - sameAfter; index++) {
    const text = documentText(previous?.bytes ?? bytes, old[index]?.range ?? WHOLE);
    const same = moved.get(text);
    if (same === undefined) moved.set(text, [index]);
    else same.push(index);
  }
  const matched: (number | undefined)[] = [];
  const contents: DocumentContent[] = [];
  for (const [index, range] of ranges.entries()) {
    let text: string | undefined;
    if (index < sameBefore) matched.push(index);
    else if (index >= firstAfter) matched.push(index - ranges.length + old.length);
    else {
      text = documentText(bytes, range);
      matched.push(moved.get(text)?.shift());
    }
    const before = old[matched[index] ?? -1];
    if (before !== undefined) contents.push(moveContent(before.content, range.line - before.range.line));
    else {
      const place = { source: options.source, file: path, line: range.line, format } as const;
      contents.push(yield* parseDocumentSteps(text ?? "", place, options));
      yield;
    }
  }
  return assemble(path, bytes, bringToLife(ranges, contents, matched, previous));
}

const WHOLE: DocumentRange = { start: 0, end: 0, line: 1 };

function cut(previous: FileState | undefined, bytes: Uint8Array, format: "yaml" | "json"): Recut {
  if (format === "yaml" && previous !== undefined) {
    return recutDocuments(previous.bytes, previous.documents.map(({ range }) => range), bytes);
  }
  const isBlank = bytes.every((byte) => byte === 32 || (byte >= 9 && byte <= 13));
  const whole = isBlank ? [] : [{ start: 0, end: bytes.length, line: 1 }];
  return { ranges: format === "yaml" ? splitDocuments(bytes) : whole, sameBefore: 0, sameAfter: 0 };
}

/** A file that cannot be read keeps everything it had. `expected` says what would be right. */
export function unreadableFile(
  previous: FileState | undefined,
  path: string,
  { source }: FolderOptions,
  expected: string,
): FileState {
  const origin = { from: "file", source, file: path, line: 0, within: "" } as const;
  const place = { objects: [], field: "file", origin, line: 0 };
  const found = fieldFinding("unreadable-file", "error", place, undefined, expected);
  return {
    path,
    bytes: previous?.bytes ?? new Uint8Array(),
    documents: previous?.documents ?? [],
    objects: previous?.objects ?? new Map(),
    findings: [{ ...found, message: `the file is not readable, expected ${expected}` }],
    stale: new Set(previous?.objects.keys()),
  };
}

/** The same content some lines further down. */
function moveContent(content: DocumentContent, by: number): DocumentContent {
  if (by === 0) return content;
  return {
    ...content,
    objects: content.objects.map((object) => movedObject(object, by)),
    findings: content.findings.map((found) => movedFinding(found, by)),
  };
}

/** Decides which objects live, keeping last good versions of what is refused. */
function bringToLife(
  ranges: readonly DocumentRange[],
  contents: readonly DocumentContent[],
  matched: readonly (number | undefined)[],
  previous: FileState | undefined,
): FileDocument[] {
  const anyRefused = contents.some((content) => content.refused.length > 0);
  const taken = new Set<string>();
  if (anyRefused) { for (const content of contents) for (const object of content.objects) taken.add(object.key); }
  return ranges.map((range, index) => {
    const content = contents[index] as DocumentContent;
    const kept = content.refused.length === 0 || previous === undefined
      ? []
      : lastGood(content, index, matched, previous).filter(({ key }) => !taken.has(key));
    for (const object of kept) taken.add(object.key);
    return { range, content, live: kept.length === 0 ? content.objects : [...content.objects, ...kept] };
  });
}

function lastGood(
  content: DocumentContent,
  index: number,
  matched: readonly (number | undefined)[],
  previous: FileState,
): ConfigObject[] {
  const kept: ConfigObject[] = [];
  for (const { kind, namespace, name } of content.refused) {
    const known = KINDS.find((one) => one === kind);
    if (name === "" || known === undefined) {
      kept.push(...inPlaceOf(index, matched, previous));
      continue;
    }
    const object = previous.objects.get(objectKey(known, namespace, name));
    if (object !== undefined) kept.push(object);
  }
  return kept;
}

/** Objects that stood between the nearest unchanged documents around this one. */
function inPlaceOf(index: number, matched: readonly (number | undefined)[], previous: FileState): ConfigObject[] {
  if (matched[index] !== undefined) return [...(previous.documents[matched[index]]?.live ?? [])];
  const before = matched.slice(0, index).findLast((old) => old !== undefined) ?? -1;
  const after = matched.slice(index + 1).find((old) => old !== undefined) ?? previous.documents.length;
  return previous.documents.slice(before + 1, after).flatMap((document) => document.live);
}

function assemble(path: string, bytes: Uint8Array, documents: readonly FileDocument[]): FileState {
  const objects = new Map<string, ConfigObject>();
  const findings: Finding[] = [];
  const stale = new Set<string>();
  for (const { content, live } of documents) {
    findings.push(...content.findings);
    live.forEach((object, index) => {
      const first = objects.get(object.key);
      if (first !== undefined) findings.push(duplicateFinding(object, first));
      else {
        objects.set(object.key, object);
        if (index >= content.objects.length) stale.add(object.key);
      }
    });
  }
  return { path, bytes, documents, objects, findings, stale };
}
