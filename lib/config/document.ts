/**
 * One document of a file becomes the objects that it holds: one, or those of a list.
 *
 * @module
 */
import type { Finding, Problem } from "./finding.ts";
import { finding, shownName } from "./finding.ts";
import { type ParsedObject, parseObject, type ParseOptions } from "./object.ts";
import { isObject } from "./schema/field.ts";
import { lookupKind } from "./spelling.ts";
import type { ConfigObject } from "./types.ts";
import { lineOf, type Place, places } from "./yaml/locate.ts";
import { parseJson, parseYaml, type SyntaxProblem } from "./yaml/parse.ts";

/** All that a document's text says, independent of what was there before. */
export interface DocumentContent {
  /** Its valid objects, with their origin. */
  readonly objects: readonly ConfigObject[];
  /** Objects of our kinds that are refused; `kind` and `name` are empty where the text does not tell. */
  readonly refused: readonly Identity[];
  readonly problems: readonly Problem[];
  /** Objects of other people's groups, which are left alone. */
  readonly foreign: number;
}

/** What is known of an object that is refused. */
export interface Identity {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Where a document stands. */
export interface DocumentPlace {
  readonly source: string;
  readonly line: number;
  readonly format: "yaml" | "json";
}

/** Objects in one document at most. */
const MAX_OBJECTS = 100_000;

/** Parses a document. Never throws. */
export function parseDocument(text: string, place: DocumentPlace, options: ParseOptions): DocumentContent {
  const parsed = place.format === "json" ? parseJson(text) : parseYaml(text);
  if ("problem" in parsed) return unreadable(text, parsed.problem, place, options);
  const objects: ConfigObject[] = [];
  const refused: Identity[] = [];
  const problems: Problem[] = [];
  let foreign = 0;
  let located: readonly Listed[] | undefined;
  const trees = listedTrees({ tree: parsed.tree });
  for (const [index, { tree }] of trees.entries()) {
    const one = parseObject(tree, { source: place.source, line: place.line }, options);
    if (one.foreign) foreign += 1;
    if (one.object !== undefined) objects.push(one.object);
    else if (!one.foreign) refused.push(identityOf(one));
    if (one.findings.length === 0) continue;
    located ??= listedTrees({ tree: parsed.tree, root: places(text) });
    const root = located[index]?.root;
    for (const found of one.findings) {
      const line = root === undefined ? place.line : place.line + lineOf(root, found.field);
      problems.push(toProblem(found, one, { ...place, line }));
    }
  }
  return { objects, refused, problems, foreign };
}

function identityOf({ kind, namespace, name }: ParsedObject): Identity {
  return { kind, namespace, name };
}

function toProblem(found: Finding, object: Identity, place: DocumentPlace): Problem {
  const { kind, namespace, name } = object;
  const shown = { kind: shownName(kind), namespace: shownName(namespace), name: shownName(name) };
  return { ...found, source: place.source, line: place.line, ...shown };
}

/** An object of a document, and where it is written, when that was asked for. */
interface Listed {
  readonly tree: unknown;
  readonly root?: Place | undefined;
}

/** A list of objects, a `kind: List`, or one object; lists may hold lists. */
function listedTrees(document: Listed): readonly Listed[] {
  const out: Listed[] = [];
  const pending: Listed[] = [document];
  while (pending.length > 0 && out.length < MAX_OBJECTS) {
    const next = pending.pop() as Listed;
    const { tree, root } = next;
    const list = isObject(tree) && isList(tree) ? tree["items"] : tree;
    const inside = list === tree ? root?.inside : root?.inside.get("items")?.inside;
    if (Array.isArray(list)) {
      for (let at = list.length - 1; at >= 0; at--) pending.push({ tree: list[at], root: inside?.get(String(at)) });
    } else if (tree !== null && tree !== undefined) out.push(next);
  }
  return out;
}

function isList(tree: Readonly<Record<string, unknown>>): boolean {
  const { kind, items } = tree;
  return typeof kind === "string" && kind.endsWith("List") && Array.isArray(items);
}

/** A text that does not parse may still tell which object it was. */
function unreadable(
  text: string,
  problem: SyntaxProblem,
  place: DocumentPlace,
  options: ParseOptions,
): DocumentContent {
  const identity = sniffIdentity(text, options);
  const found = finding("error", "document", undefined, place.format === "json" ? "JSON" : "YAML");
  const message = `does not parse: ${problem.reason}`;
  return {
    objects: [],
    refused: [identity],
    problems: [{ ...found, message, source: place.source, line: place.line + problem.line, ...identity }],
    foreign: 0,
  };
}

/** Reads kind, name and namespace off the lines where they usually stand; all empty unless kind and name are found. */
function sniffIdentity(text: string, options: ParseOptions): Identity {
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
