/**
 * One document of a file becomes its objects: a single object, or the objects of a list. Objects of the mesh's kinds
 * are configuration, known manifests are facts, everything else is counted.
 *
 * @module
 */
import { unpaced } from "../../kernel/time/paced.ts";
import { fieldFinding, type Finding } from "../../finding/finding.ts";
import type { ObjectName } from "../../finding/object_name.ts";
import type { FactOptions } from "../facts/read.ts";
import { type AnyFact, FACT_API_VERSIONS, isClusterWide, isFactKind } from "../facts/types.ts";
import { positionOf } from "./positions.ts";
import { isManifest, type ManifestRead, OTHER_TEXT, readManifest, TEMPLATE } from "./manifest.ts";
import { isClusterWideKind } from "../spelling/kind_names.ts";
import { type ParsedObject, parseObject, type ParseOptions } from "../object.ts";
import type { FileOrigin } from "../../finding/origin.ts";
import { isObject, joinPath } from "../schema/field.ts";
import { lookupKind } from "../spelling/spelling.ts";
import { carrierFinding, meshCarrierOf } from "../mesh/carrier.ts";
import type { ConfigObject } from "../types.ts";
import { places, type YamlPlace } from "../yaml/locate.ts";
import { parseJson, parseYaml, type SyntaxFinding } from "../yaml/parse.ts";

/** How a document is read. */
export interface DocumentOptions extends ParseOptions {
  /** How manifests are read into facts; absent: manifests are passed over. */
  readonly facts?: FactOptions;
}

/** The content of a document's text, independent of earlier versions. */
export interface DocumentContent {
  /** The valid objects, with their origin. */
  readonly objects: readonly ConfigObject[];
  /** The valid manifests of facts, with their origin. */
  readonly facts: readonly AnyFact[];
  /** Refused objects of our kinds and refused manifests; `kind` and `name` are empty if the text has none. */
  readonly refused: readonly ObjectName[];
  readonly findings: readonly Finding[];
  /** Everything else, by the names of the counts: see `./manifest.ts`. */
  readonly passedOver: readonly string[];
  /**
   * The document has findings, but does not look like configuration. Unless objects stood in its place before, the
   * document is counted under this name, and nobody gets its findings.
   */
  readonly unless?: typeof TEMPLATE | typeof OTHER_TEXT;
}

/** The place of a document. */
export interface DocumentPlace {
  /** Name of the source; see `FileOrigin`. */
  readonly source: string;
  /** Path of the file, relative to the source. */
  readonly file: string;
  /** Line of the document's beginning, from 1. */
  readonly line: number;
  readonly format: "yaml" | "json";
}

/** Most objects in one document. */
const MAX_OBJECTS = 100_000;

/** Parses a document. Never throws. */
export function parseDocument(text: string, place: DocumentPlace, options: DocumentOptions): DocumentContent {
  return unpaced(parseDocumentSteps(text, place, options));
}

/** Parses a document, one object a step. Never throws. */
export function* parseDocumentSteps(
  text: string,
  place: DocumentPlace,
  options: DocumentOptions,
): Generator<void, DocumentContent> {
  const parsed = place.format === "json" ? parseJson(text) : parseYaml(text, options.pool);
  if ("problem" in parsed) return unreadable(text, parsed.problem, place, options);
  const objects: ConfigObject[] = [];
  const facts: AnyFact[] = [];
  const refused: ObjectName[] = [];
  const findings: Finding[] = [];
  const passedOver: string[] = [];
  let located: readonly Listed[] | undefined;
  const trees = listedTrees({ tree: parsed.tree, within: "" });
  for (const [index, { tree, within }] of trees.entries()) {
    if (index > 0) yield;
    const origin = fileOrigin(place, within);
    const one = readTree(tree, origin, options);
    if (one.object !== undefined) objects.push(one.object);
    else if (one.fact !== undefined) facts.push(one.fact);
    else if (one.passedOver !== undefined) passedOver.push(one.passedOver);
    else refused.push(one.name);
    if (one.findings.length === 0) continue;
    located ??= listedTrees({ tree: parsed.tree, within: "", root: places(text) });
    const root = located[index]?.root;
    for (const found of one.findings) {
      findings.push({ ...found, place: { ...found.place, ...positionOf(root, place.line, found.place.field) } });
    }
  }
  const lists = {
    objects: fitted(objects),
    facts: fitted(facts),
    refused: fitted(refused),
    findings: fitted(findings),
    passedOver: fitted(passedOver),
  };
  return refused.length > 0 && isTemplate(text) ? { ...lists, unless: TEMPLATE } : lists;
}

/** A tree is an object of the mesh, or a manifest, or neither. */
function readTree(
  tree: unknown,
  origin: FileOrigin,
  options: DocumentOptions,
): Pick<ParsedObject, "object" | "findings" | "name"> & Pick<ManifestRead, "fact" | "passedOver"> {
  if (isManifest(tree)) return withCarrier(readManifest(tree, origin, options), tree, origin, options);
  const { foreign, ...object } = parseObject(tree, origin, options);
  return foreign ? withCarrier(readManifest(tree, origin, options), tree, origin, options) : object;
}

/** Reports an object that contains a mesh configuration, because nothing reads the mesh configuration there. */
function withCarrier(
  read: ManifestRead,
  tree: unknown,
  origin: FileOrigin,
  { defaultNamespace }: DocumentOptions,
): ManifestRead {
  const carrier = meshCarrierOf(tree, defaultNamespace);
  return carrier === undefined ? read : { ...read, findings: [...read.findings, carrierFinding(carrier, origin)] };
}

// Most documents hold one valid object: their lists are kept, so these lists have no room to grow.
const NOTHING: readonly never[] = Object.freeze([]);

function fitted<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NOTHING : list.slice();
}

function fileOrigin({ source, file, line }: DocumentPlace, within: string): FileOrigin {
  return { from: "file", source, file, line, within };
}

/** An object of a document, and its place if the caller asked for places. */
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
    const list = isObject(tree) && isList(tree) ? itemsOf(tree) : tree;
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

/** Items of a list from an API lack `apiVersion` and `kind`; the list has both. */
function itemsOf({ apiVersion, kind, items }: Readonly<Record<string, unknown>>): unknown {
  const each = typeof kind === "string" ? kind.slice(0, -"List".length) : "";
  if (each === "" || !Array.isArray(items)) return items;
  return items.map((
    item,
  ) => (isObject(item) && item["kind"] === undefined ? { apiVersion, kind: each, ...item } : item));
}

/** A text that does not parse may still name its object. */
function unreadable(
  text: string,
  problem: SyntaxFinding,
  place: DocumentPlace,
  options: DocumentOptions,
): DocumentContent {
  const name = sniffName(text, options);
  const format = place.format === "json" ? "JSON" : "YAML";
  const origin = fileOrigin(place, "");
  const at = { objects: [name], field: "document", origin, line: place.line + problem.line };
  const found = fieldFinding("syntax", "error", at, undefined, format);
  // Reasons quote the text. Nothing of a secret's text may be shown.
  const reason = SECRET.test(text) ? problem.reason.replace(/["'].*["']/s, "[concealed]") : problem.reason;
  const unless = isTemplate(text) ? TEMPLATE : concernsUs(text) ? undefined : OTHER_TEXT;
  return {
    objects: NOTHING,
    facts: NOTHING,
    refused: [name],
    findings: [{ ...found, message: `does not parse: ${reason}` }],
    passedOver: NOTHING,
    ...(unless === undefined ? {} : { unless }),
  };
}

/** A text with a secret, whether the text parses or not. */
const SECRET = /\bkind["']?\s*:\s*["']?Secret\b/;

/** Characters at the beginning of a text in which the head is searched. */
const HEAD_LENGTH = 4096;

/**
 * An action of Go's templates in a chart. Until the template is filled in, the text is not YAML or has wrong values.
 */
const TEMPLATE_ACTION = /\{\{-?\s*(?:[.$][A-Za-z_]|\/\*|([A-Za-z]+)\b)/g;
const TEMPLATE_WORDS: ReadonlySet<string> = new Set([
  ...["if", "else", "end", "range", "with", "define", "include", "template", "block", "toYaml", "tpl", "printf"],
  ...["quote", "required", "default", "lookup", "fail", "not", "and", "or", "eq", "ne"],
]);

function isTemplate(text: string): boolean {
  if (!text.includes("{{")) return false;
  return text.matchAll(TEMPLATE_ACTION).some(([, word]) => word === undefined || TEMPLATE_WORDS.has(word));
}

/** Whether a text that does not parse was probably meant as an object of ours, or as a manifest. */
function concernsUs(text: string): boolean {
  const head = text.slice(0, HEAD_LENGTH);
  return /^[ \t{"']*(?:apiVersion|kind)["']?\s*:/m.test(head) || /\b(?:mesh|istio)\.io\/v1/.test(head);
}

const NAME_LINE = /(?:^|\n {1,8}|[{,] *)name: *["']?([^\s"',}#]+)/;
const NAMESPACE_LINE = /(?:^|\n {1,8}|[{,] *)namespace: *["']?([^\s"',}#]+)/;

/** Reads kind, name and namespace from the lines at their usual places; all empty unless kind and name are found. */
function sniffName(text: string, options: DocumentOptions): ObjectName {
  const head = text.slice(0, HEAD_LENGTH);
  const apiVersion = /^apiVersion: *["']?([^\s"'#]+)/m.exec(head)?.[1] ?? "";
  const kind = /^kind: *["']?(\w+)/m.exec(head)?.[1] ?? "";
  const metadata = /^metadata:(.*(?:\n(?: +.*|))*)/m.exec(head)?.[1] ?? "";
  const found = lookupKind(apiVersion, kind);
  const isFact = isFactKind(kind) && FACT_API_VERSIONS[kind] === apiVersion;
  const name = NAME_LINE.exec(metadata)?.[1];
  if (!(found.known || isFact) || name === undefined) return { kind: "", namespace: "", name: "" };
  const hasNone = found.known ? isClusterWideKind(found.kind) : isFact && isClusterWide(kind);
  const namespace = hasNone ? "" : NAMESPACE_LINE.exec(metadata)?.[1] ?? options.defaultNamespace;
  return { kind: found.known ? found.kind : kind, namespace, name };
}
