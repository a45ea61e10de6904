/**
 * The text of one YAML document becomes a JSON tree, in bounded time for every text.
 *
 * Bounds: 2 MiB of text, 64 levels, 500,000 nodes with aliases written out.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
// @ts-types="npm:@types/js-yaml@4.0.9"
import { CORE_SCHEMA, load, Type, YAMLException } from "js-yaml";
import { ValuePool } from "../schema/value_pool.ts";
import { NOT_PLAIN, parseFast } from "./fast.ts";
import { NOT_JSON, parseJsonText } from "./json_text.ts";

/** Longest document, in characters: more than an orchestrator would store (1.5 MiB). */
export const MAX_DOCUMENT_LENGTH = 2 * 1024 * 1024;
const MAX_DEPTH = 64;
const MAX_NODES = 500_000;

/** YAML 1.2 core, and the merge key of YAML 1.1, which people use. */
export const SCHEMA = CORE_SCHEMA.extend({
  implicit: [
    new Type("tag:yaml.org,2002:merge", { kind: "scalar", resolve: (text) => text === "<<" || text === null }),
  ],
});

/** Why a text has no tree. */
export interface SyntaxFinding {
  /** 0-based line inside the document. */
  readonly line: number;
  /** The problem, in one phrase. */
  readonly reason: string;
}

/** A tree, or why there is none. */
export type ParsedTree = { readonly tree: unknown } | { readonly problem: SyntaxFinding };

/**
 * Parses one document of a YAML file (1.2 core schema, and merge keys). Never throws.
 *
 * @param pool Makes equal strings one; default: a pool only for the document.
 */
export function parseYaml(text: string, pool = ValuePool.small()): ParsedTree {
  if (text.length > MAX_DOCUMENT_LENGTH) {
    return fail(`a document of ${text.length} characters; the most is ${MAX_DOCUMENT_LENGTH}`);
  }
  const json = parseJsonText(text);
  if (json !== NOT_JSON) return checkTree(json) ?? { tree: json };
  const plain = parseFast(text, pool);
  return plain === NOT_PLAIN ? parseFull(text) : { tree: plain };
}

/** Parses a JSON file. Never throws. */
export function parseJson(text: string): ParsedTree {
  if (text.length > 32 * MAX_DOCUMENT_LENGTH) return fail(`a file of ${text.length} characters`);
  try {
    const tree: unknown = JSON.parse(text);
    return checkTree(tree) ?? { tree };
  } catch (error) {
    const reason = errorMessage(error);
    const line = /line (\d+)/.exec(reason)?.[1];
    return fail(`not JSON: ${reason}`, line === undefined ? 0 : Number(line) - 1);
  }
}

/** The full parser; exported for the test that compares both. */
export function parseFull(text: string): ParsedTree {
  try {
    const tree: unknown = load(text, { schema: SCHEMA }) ?? null;
    return checkTree(tree) ?? { tree };
  } catch (error) {
    if (error instanceof YAMLException) return fail(error.reason, error.mark?.line ?? 0);
    // The parser descends by calls, so hopeless nesting ends in a RangeError.
    return fail(error instanceof RangeError ? "values nested too deep" : String(error));
  }
}

function fail(reason: string, line = 0): ParsedTree {
  return { problem: { line, reason } };
}

/** Bounds depth and size, which also finds cycles; and finds values outside of JSON. */
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
