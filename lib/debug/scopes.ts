/**
 * `/debug/scopez`: shows the levels of each log scope, and changes them while the server runs.
 *
 * The words of the answers are the words of Istio's introspection port (`/scopej/`): `name`, `output_level`,
 * `stack_trace_level`, `log_callers`.
 *
 * @module
 */
import * as z from "zod";
import { issueLines } from "../kernel/json/issues.ts";
import { ALL, type Level, levels } from "../kernel/log/level.ts";
import { nearestName } from "../kernel/text/nearest.ts";
import type { Log, ScopeState } from "../kernel/log/log.ts";
import { bodyText, type HttpRequest, type HttpResponse, jsonResponse, textResponse } from "../http/message.ts";
import type { DebugView } from "./view.ts";

/** The settings that a request may change, by their short names in a query and by their names in answers. */
const NAMES: Readonly<Record<string, keyof ScopeRequest>> = {
  scope: "scope",
  name: "scope",
  level: "level",
  output_level: "level",
  stack_level: "stackLevel",
  stack_trace_level: "stackLevel",
  caller: "caller",
  log_callers: "caller",
};

/** A request, before it is checked. */
interface ScopeRequest {
  scope?: unknown;
  level?: unknown;
  stackLevel?: unknown;
  caller?: unknown;
}

/** A valid change. */
interface Change {
  readonly scope: string;
  readonly level: Level | undefined;
  readonly stackLevel: Level | undefined;
  readonly caller: boolean | undefined;
}

/**
 * The page. GET lists all scopes, or a single scope with `scope=`. PUT and POST change a single scope, or all scopes
 * with `scope=all`, by the query or by a JSON object in the body. The answer has the new settings. If any part of the
 * request is wrong, nothing changes, and the answer 400 names each mistake.
 */
export function scopez(request: HttpRequest, { log }: DebugView): HttpResponse {
  const { method } = request;
  const mistakes: string[] = [];
  const wanted = read([...request.query].filter(([name]) => name !== "pretty"), "query", mistakes);
  if (method !== "GET") Object.assign(wanted, readBody(bodyText(request), mistakes));
  const change = checked(wanted, log, method, mistakes);
  if (change === undefined || mistakes.length > 0) {
    return textResponse(
      400,
      mistakes.map((mistake) => `${mistake}\n`).join(""),
    );
  }
  if (method !== "GET") apply(change, log);
  const one = change.scope !== ALL && wanted.scope !== undefined;
  const shown = log.states().filter(({ name }) => !one || name === change.scope).map(shownScope);
  return jsonResponse(one ? shown[0] : shown, request);
}

function shownScope({ name, level, stackLevel, caller }: ScopeState) {
  return { name, output_level: level, stack_trace_level: stackLevel, log_callers: caller };
}

function read(pairs: Iterable<readonly [string, unknown]>, where: string, mistakes: string[]): ScopeRequest {
  const wanted: ScopeRequest = {};
  for (const [name, value] of pairs) {
    const field = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
    if (field !== undefined) wanted[field] = value;
    else mistakes.push(unknownName(where, name));
  }
  return wanted;
}

function unknownName(where: string, name: string): string {
  const known = Object.keys(NAMES);
  const guess = nearestName(name, known);
  const hint = guess === undefined ? "" : `; did you mean ${guess}?`;
  return `${where}: got ${JSON.stringify(name)}, expected one of ${known.join(", ")}${hint}`;
}

function readBody(body: string, mistakes: string[]): ScopeRequest {
  if (body.trim() === "") return {};
  let tree: unknown;
  try {
    tree = JSON.parse(body);
  } catch {
    // The mistake is reported below, like any other text that is not an object.
  }
  if (typeof tree !== "object" || tree === null || Array.isArray(tree)) {
    mistakes.push('body: expected a JSON object such as {"scope": "ads", "level": "debug"}');
    return {};
  }
  return read(Object.entries(tree), "body", mistakes);
}

const LEVEL = z.enum(levels, { error: `one of ${levels.join(", ")}` }).optional();

/** In a query a truth is a word. */
const TRUTH = z.union([z.boolean(), z.enum(["true", "false"]).transform((word) => word === "true")], {
  error: "true or false",
}).optional();

function checked(wanted: ScopeRequest, log: Log, method: string, mistakes: string[]): Change | undefined {
  const { scope, level, stackLevel, caller } = wanted;
  const changes = method !== "GET";
  const known = [ALL, ...log.states().map(({ name }) => name)];
  const one = z.enum(known, { error: `one of ${known.join(", ")}` });
  const read = z.object({ scope: changes ? one : one.optional(), level: LEVEL, stack_level: LEVEL, caller: TRUTH })
    .safeParse({ scope, level, stack_level: stackLevel, caller }, { reportInput: true });
  if (!read.success) mistakes.push(...issueLines(read.error.issues));
  const asksChange = level !== undefined || stackLevel !== undefined || caller !== undefined;
  if (changes && !asksChange) mistakes.push("expected a level, stack_level or caller to set");
  if (!changes && asksChange) mistakes.push(`method: got ${method}, expected PUT or POST to change a scope`);
  if (!read.success) return undefined;
  const { stack_level, ...rest } = read.data;
  return { scope: rest.scope ?? ALL, level: rest.level, caller: rest.caller, stackLevel: stack_level };
}

function apply({ scope, level, stackLevel, caller }: Change, log: Log): void {
  if (level !== undefined) log.set(scope, level);
  if (stackLevel !== undefined) log.setStackLevel(scope, stackLevel);
  if (caller !== undefined) log.setCaller(scope, caller);
}
