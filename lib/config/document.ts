/**
 * One document of a file becomes the objects that it holds: one, or those of a list.
 *
 * @module
 */
import { unpaced } from "../kernel/time/paced.ts";
import { fieldFinding, type Finding, type ObjectName } from "./finding/finding.ts";
import { parseObject, type ParseOptions } from "./object.ts";
import type { FileOrigin } from "./finding/origin.ts";
import { isObject, joinPath } from "./schema/field.ts";
import { lookupKind } from "./spelling/spelling.ts";
import type { ConfigObject } from "./types.ts";
import { placeOf, places, type YamlPlace } from "./yaml/locate.ts";
import { documentText, splitDocuments } from "./yaml/split.ts";
import { parseJson, parseYaml, type SyntaxProblem } from "./yaml/parse.ts";

/** The content of a document's text, independent of earlier versions. */
export interface DocumentContent {
  /** Its valid objects, with their origin. */
  readonly objects: readonly ConfigObject[];
  /** Objects of our kinds that are refused; `kind` and `name` are empty where the text has none. */
  readonly refused: readonly ObjectName[];
  readonly findings: readonly Finding[];
  /** Objects of other people's groups, which are left alone. */
  readonly foreign: number;
}

/** Where a document stands. */
export interface DocumentPlace {
  /** Name of the source; see `FileOrigin`. */
  readonly source: string;
  /** Path of the file, relative to the source. */
  readonly file: string;
  /** 1-based line where it starts. */
  readonly line: number;
  readonly format: "yaml" | "json";
}

/** Objects in one document at most. */
const MAX_OBJECTS = 100_000;

/** Parses a document. Never throws. */
export function parseDocument(text: string, place: DocumentPlace, options: ParseOptions): DocumentContent {
  return unpaced(parseDocumentSteps(text, place, options));
}

/** Parses a document, one object a step. Never throws. */
export function* parseDocumentSteps(
  text: string,
  place: DocumentPlace,
  options: ParseOptions,
): Generator<void, DocumentContent> {
  const parsed = place.format === "json" ? parseJson(text) : parseYaml(text, options.pool);
  if ("problem" in parsed) return unreadable(text, parsed.problem, place, options);
  const objects: ConfigObject[] = [];
  const refused: ObjectName[] = [];
  const findings: Finding[] = [];
  let foreign = 0;
  let located: readonly Listed[] | undefined;
  const trees = listedTrees({ tree: parsed.tree, within: "" });
  for (const [index, { tree, within }] of trees.entries()) {
    if (index > 0) yield;
    const one = parseObject(tree, fileOrigin(place, within), options);
    if (one.foreign) foreign += 1;
    if (one.object !== undefined) objects.push(one.object);
    else if (!one.foreign) refused.push(one.name);
    if (one.findings.length === 0) continue;
    located ??= listedTrees({ tree: parsed.tree, within: "", root: places(text) });
    const root = located[index]?.root;
    for (const found of one.findings) {
      findings.push({ ...found, place: { ...found.place, ...positionOf(root, place.line, found.place.field) } });
    }
  }
  // Most documents hold one valid object: their lists are kept, so they have no room to grow.
  return { objects: fitted(objects), refused: fitted(refused), findings: fitted(findings), foreign };
}

/** 1-based line and column in the file of a document that starts at a line. */
interface FieldPosition {
  readonly line: number;
  readonly column?: number;
}

function positionOf(root: YamlPlace | undefined, start: number, field: string): FieldPosition {
  if (root === undefined) return { line: start };
  const { line, column } = placeOf(root, field);
  return { line: start + line, column };
}

/**
 * Where fields of an object stand in the file that it was read from.
 *
 * @param bytes The file as it is now; when it is another one than was read, the object's own line is all that is known.
 * @returns The positions in the order of the fields.
 */
export function fieldPositions(bytes: Uint8Array, origin: FileOrigin, fields: readonly string[]): FieldPosition[] {
  const root = rootOf(bytes, origin);
  return fields.map((field) => positionOf(root, origin.line, field));
}

function rootOf(bytes: Uint8Array, { file, line, within }: FileOrigin): YamlPlace | undefined {
  try {
    const range = file.endsWith(".json")
      ? { start: 0, end: bytes.length, line: 1 }
      : splitDocuments(bytes).find((one) => one.line === line);
    const whole = range && places(documentText(bytes, range));
    return whole && placeOf(whole, within);
  } catch (error) {
    // Bytes that are no text: the file has changed since it was read.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

const NOTHING: readonly never[] = Object.freeze([]);

function fitted<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NOTHING : list.slice();
}

function fileOrigin({ source, file, line }: DocumentPlace, within: string): FileOrigin {
  return { from: "file", source, file, line, within };
}

/** An object of a document, and where it is written, when that was asked for. */
interface Listed {
  readonly tree: unknown;
  /** Path from the document: `items[2]`. */
  readonly within: string;
  readonly root?: YamlPlace | undefined;
}

/** A list of objects, a `kind: List`, or one object; lists may hold lists. */
function listedTrees(document: Listed): readonly Listed[] {
  const out: Listed[] = [];
  const pending: Listed[] = [document];
  while (pending.length > 0 && out.length < MAX_OBJECTS) {
    const next = pending.pop() as Listed;
    const { tree, root, within } = next;
    const list = isObject(tree) && isList(tree) ? tree["items"] : tree;
    const inside = list === tree ? root?.inside : root?.inside.get("items")?.inside;
    if (Array.isArray(list)) {
      const path = list === tree ? within : joinPath(within, "items");
      for (let at = list.length - 1; at >= 0; at--) {
        pending.push({ tree: list[at], root: inside?.get(String(at)), within: joinPath(path, at) });
      }
    } else if (tree !== null && tree !== undefined) out.push(next);
  }
  return out;
}

function isList(tree: Readonly<Record<string, unknown>>): boolean {
  const { kind, items } = tree;
  return typeof kind === "string" && kind.endsWith("List") && Array.isArray(items);
}

/** A text that does not parse may still name its object. */
function unreadable(
  text: string,
  problem: SyntaxProblem,
  place: DocumentPlace,
  options: ParseOptions,
): DocumentContent {
  const name = sniffName(text, options);
  const format = place.format === "json" ? "JSON" : "YAML";
  const origin = fileOrigin(place, "");
  const at = { objects: [name], field: "document", origin, line: place.line + problem.line };
  const found = fieldFinding("syntax", "error", at, undefined, format);
  return {
    objects: [],
    refused: [name],
    findings: [{ ...found, message: `does not parse: ${problem.reason}` }],
    foreign: 0,
  };
}

/** Reads kind, name and namespace off the lines where they usually stand; all empty unless kind and name are found. */
function sniffName(text: string, options: ParseOptions): ObjectName {
  const head = text.slice(0, 4096);
  const apiVersion = /^apiVersion: *["']?([^\s"'#]+)/m.exec(head)?.[1] ?? "";
  const kind = /^kind: *["']?(\w+)/m.exec(head)?.[1] ?? "";
  const metadata = /^metadata:(.*(?:\n(?: +.*|))*)/m.exec(head)?.[1] ?? "";
  const field = (name: string) => new RegExp(`(?:^|\\n {1,8}|[{,] *)${name}: *["']?([^\\s"',}#]+)`).exec(metadata)?.[1];
  const found = lookupKind(apiVersion, kind);
  const name = field("name");
  if (!found.known || name === undefined) return { kind: "", namespace: "", name: "" };
  return { kind: found.kind, namespace: field("namespace") ?? options.defaultNamespace, name };
}
