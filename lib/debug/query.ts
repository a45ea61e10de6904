/**
 * Queries of debug pages: read by a schema of zod. A single answer has every mistake. Names unknown to a page are
 * refused.
 *
 * The schemas give the expected value as `error`: `z.string({ error: "a namespace" })`.
 *
 * @module
 */
import * as z from "zod";
import type { JsonIssue } from "../kernel/json/issues.ts";
import { nearestName } from "../kernel/text/nearest.ts";
import { type HttpRequest, type HttpResponse, textResponse } from "../http/message.ts";
import type { DebugView } from "./view.ts";

/** The query parameters of a page, by name. */
export type QuerySchema = z.ZodObject<Readonly<Record<string, z.ZodType>>>;

/** A switch in a query. `?x` and `?x=true` are on; `x=false` is off. */
export const SWITCH = z.enum(["", "true", "false"], { error: "nothing, true or false" }).optional().transform((word) =>
  word !== undefined && word !== "false"
);

/** A non-empty text. */
export function textQuery(expected: string) {
  return z.string({ error: expected }).min(1, { error: expected });
}

/** Queries of every page, see `jsonResponse`. */
const COMMON = ["pretty"];

/** The most unknown names listed in an answer. */
const MAX_NAMED = 20;

/** Longest value in an answer, in characters. */
const MAX_SHOWN = 200;

/** A page with checked and typed queries. A request with mistakes is answered with 400 and a line for each mistake. */
export function queried<S extends QuerySchema, R>(
  schema: S,
  answer: (request: HttpRequest, view: DebugView, query: z.output<S>) => R,
): (request: HttpRequest, view: DebugView) => R | HttpResponse {
  return (request, view) => {
    const read = readQuery(request.query, schema);
    return "mistakes" in read ? refusedQuery(read.mistakes) : answer(request, view, read.query);
  };
}

/** A page without queries. */
export function unqueried<R>(answer: (request: HttpRequest, view: DebugView) => R) {
  return queried(z.object({}), answer);
}

/** Reads queries, or returns every mistake in them. */
export function readQuery<S extends QuerySchema>(
  query: URLSearchParams,
  schema: S,
): { readonly query: z.output<S> } | { readonly mistakes: readonly string[] } {
  const names = Object.keys(schema.shape);
  const given = [...new Set(query.keys())];
  const unknown = given.filter((name) => !names.includes(name) && !COMMON.includes(name));
  const named = unknown.slice(0, MAX_NAMED);
  const mistakes = named.map((name) => unknownQuery(name, names));
  if (unknown.length > MAX_NAMED) mistakes.push(`and ${unknown.length - MAX_NAMED} more queries of unknown names`);
  // A missing query and its misspelled name count as a single mistake.
  const meant = new Set(named.map((name) => nearestName(name, names)));
  for (const name of given.filter((one) => names.includes(one))) {
    const times = query.getAll(name).length;
    if (times > 1) mistakes.push(`query ${name}: got it ${times} times, expected it once`);
  }
  const read = schema.safeParse(Object.fromEntries(query), { reportInput: true });
  const issues: readonly JsonIssue[] = read.error?.issues ?? [];
  mistakes.push(
    ...issues.filter(({ path, input }) => input !== undefined || !meant.has(String(path[0]))).map(issueText),
  );
  return read.success && mistakes.length === 0 ? { query: read.data } : { mistakes };
}

/** A sentence about a name unknown to a page. */
function unknownQuery(name: string, known: readonly string[]): string {
  const guess = nearestName(name, known);
  const hint = guess === undefined ? "" : `; did you mean ${guess}?`;
  const all = [...known, ...COMMON];
  return `query ${JSON.stringify(shortened(name))}: this page has none of that name, expected ${
    all.length === 1 ? all[0] : `one of ${all.join(", ")}`
  }${hint}`;
}

/** The answer with the list of mistakes. */
export function refusedQuery(mistakes: readonly string[]): HttpResponse {
  return textResponse(400, mistakes.map((mistake) => `${mistake}\n`).join(""));
}

function issueText({ path, message, input }: JsonIssue): string {
  const name = path.map(String).join(".");
  if (input === undefined) return `query ${name} is missing, expected ${message}`;
  return `query ${name}: got ${JSON.stringify(shortened(String(input)))}, expected ${message}`;
}

function shortened(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}...`;
}
