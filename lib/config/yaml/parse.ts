/**
 * The text of one YAML document becomes a JSON tree, whatever is written there, in bounded time.
 *
 * Bounds: 2 MiB of text, 64 levels, 500,000 nodes after aliases are expanded, 100 expansions of aliases in all.
 * @module
 * Permissions: env LOG_TOKENS and LOG_STREAM, which the YAML library looks at whenever it parses (nothing else does); documents that
 * `./fast.ts` can read need none.
 */
import { isAlias, isMap, isScalar, parseDocument, visit } from "yaml";
import { NOT_PLAIN, parseFast } from "./fast.ts";

/** Longest document, in characters: more than an orchestrator would store (1.5 MiB). */
export const MAX_DOCUMENT_LENGTH = 2 * 1024 * 1024;
const MAX_DEPTH = 64;
const MAX_NODES = 500_000;
const MAX_ALIASES = 100;

/** Why a text is no tree. */
export interface SyntaxProblem {
  /** 0-based line inside the document. */
  readonly line: number;
  /** What is wrong, in one phrase. */
  readonly reason: string;
}

/** A tree, or why there is none. */
export type ParsedTree = { readonly tree: unknown } | { readonly problem: SyntaxProblem };

/** Parses one document of a YAML file (YAML 1.2 core schema, and merge keys). Never throws. */
export function parseYaml(text: string): ParsedTree {
  if (text.length > MAX_DOCUMENT_LENGTH) {
    return fail(`a document of ${text.length} characters; the most is ${MAX_DOCUMENT_LENGTH}`);
  }
  const plain = parseFast(text);
  return plain === NOT_PLAIN ? parseFull(text) : { tree: plain };
}

/** Parses a JSON file. Never throws. */
export function parseJson(text: string): ParsedTree {
  if (text.length > 32 * MAX_DOCUMENT_LENGTH) return fail(`a file of ${text.length} characters`);
  try {
    const tree: unknown = JSON.parse(text);
    return checkTree(tree) ?? { tree };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const line = /line (\d+)/.exec(reason)?.[1];
    return fail(`no JSON: ${reason}`, line === undefined ? 0 : Number(line) - 1);
  }
}

/** The full parser; exported for the test that compares both. */
export function parseFull(text: string): ParsedTree {
  const deep = deepestFlow(text);
  if (deep > MAX_DEPTH) return fail(`brackets nested ${deep} deep; the most is ${MAX_DEPTH}`);
  try {
    const document = parseDocument(text, {
      schema: "core",
      merge: true,
      prettyErrors: true,
      logLevel: "silent",
      // The library compares each key with all others; duplicates are looked for below, in linear time.
      uniqueKeys: false,
    });
    const [error] = document.errors;
    if (error !== undefined) {
      const reason = error.message.split("\n", 1)[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? error.code;
      return fail(reason, (error.linePos?.[0].line ?? 1) - 1);
    }
    const duplicate = duplicateKey(text, document);
    if (duplicate !== undefined) return duplicate;
    const tree: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return checkTree(tree) ?? { tree };
  } catch (error) {
    // RangeError from nesting, ReferenceError from aliases: bad input, not a fault of the program.
    return fail(error instanceof Error ? error.message : String(error));
  }
}

function fail(reason: string, line = 0): ParsedTree {
  return { problem: { line, reason } };
}

function duplicateKey(text: string, document: ReturnType<typeof parseDocument>): ParsedTree | undefined {
  let found: ParsedTree | undefined;
  visit(document, {
    Map(_, node) {
      if (!isMap(node)) return;
      const seen = new Set<string>();
      for (const { key } of node.items) {
        if (isAlias(key) || !isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name) && name !== "<<") {
          const offset = key.range?.[0] ?? 0;
          found = fail(`key ${JSON.stringify(name)} is written twice`, text.slice(0, offset).split("\n").length - 1);
          return visit.BREAK;
        }
        seen.add(name);
      }
    },
  });
  return found;
}

/** Deepest nesting of brackets, quotes and comments not considered (they can only make it look deeper): the parser recurses on these. */
function deepestFlow(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 91 || code === 123) deepest = Math.max(deepest, ++depth);
    else if ((code === 93 || code === 125) && depth > 0) depth--;
  }
  return deepest;
}

/** Bounds depth and size, which also finds cycles; and finds what JSON cannot say. */
function checkTree(tree: unknown): ParsedTree | undefined {
  let nodes = 0;
  const walk = (value: unknown, depth: number): string | undefined => {
    if (++nodes > MAX_NODES) return `more than ${MAX_NODES} values`;
    if (typeof value === "number" && !Number.isFinite(value)) return `${value}, which JSON has not`;
    if (typeof value !== "object" || value === null) return undefined;
    if (depth > MAX_DEPTH) return `values nested more than ${MAX_DEPTH} deep (or an alias inside its own anchor)`;
    for (const key of Object.keys(value)) {
      if (key === "__proto__") return "a key __proto__";
      const wrong = walk((value as Readonly<Record<string, unknown>>)[key], depth + 1);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
  const wrong = walk(tree, 0);
  return wrong === undefined ? undefined : fail(wrong);
}
