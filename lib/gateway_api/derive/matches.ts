/**
 * The matches of rules as matches of a VirtualService.
 *
 * @module
 */
import type { GRPCRouteMatch, HttpMatchRequest, HTTPRouteMatch, StringMatch } from "../../config/kinds/kinds.ts";
import { withoutEnd } from "../../kernel/text/edges.ts";
import { literally, regexProblem } from "./expressions.ts";
import { type MatchOrder, PATH_RANK } from "./order.ts";
import type { ReportRefusal } from "./refusal.ts";

/** A match with its place in the order of rules. */
export interface ConvertedMatch {
  /** Position in the rule, from 0. Absent: the rule has no match. */
  readonly at?: number;
  readonly match: HttpMatchRequest;
  readonly order: MatchOrder;
  /** The prefix that the match takes, without slashes at the end; empty: the prefix `/`. Absent: no prefix. */
  readonly prefix?: string;
}

/** A condition on the path. */
interface PathCondition {
  readonly uri: StringMatch;
  readonly rank: number;
  readonly length: number;
  readonly prefix?: string;
}

/** The condition of a rule without matches. */
const ANY_PATH: PathCondition = { uri: { prefix: "/" }, rank: PATH_RANK.any, length: 1, prefix: "" };

/**
 * Converts the matches of a rule of an HTTPRoute. A match that the proxy cannot evaluate is left out and reported, because
 * nobody knows which requests it means.
 */
export function httpMatches(matches: readonly HTTPRouteMatch[] | undefined, report: ReportRefusal): ConvertedMatch[] {
  if (!matches?.length) return [converted({ path: ANY_PATH })];
  return matches.flatMap((match, at) => {
    const field = `matches[${at}]`;
    const path = httpPath(match.path, `${field}.path`, report);
    const headers = named(match.headers, `${field}.headers`, true, report);
    const queryParams = named(match.queryParams, `${field}.queryParams`, false, report);
    const { method } = match;
    return path && headers && queryParams
      ? [converted({ at, path, headers, queryParams, ...(method && { method }) })]
      : [];
  });
}

/** Converts the matches of a rule of a GRPCRoute: a call's path is `/SERVICE/METHOD`. */
export function grpcMatches(matches: readonly GRPCRouteMatch[] | undefined, report: ReportRefusal): ConvertedMatch[] {
  if (!matches?.length) return [converted({ path: ANY_PATH })];
  return matches.flatMap((match, at) => {
    const field = `matches[${at}]`;
    const path = grpcPath(match.method, `${field}.method`, report);
    const headers = named(match.headers, `${field}.headers`, true, report);
    return path && headers ? [converted({ at, path, headers })] : [];
  });
}

function converted({ at, path, headers = {}, queryParams = {}, method }: {
  readonly at?: number;
  readonly path: PathCondition;
  readonly headers?: Readonly<Record<string, StringMatch>>;
  readonly queryParams?: Readonly<Record<string, StringMatch>>;
  readonly method?: string;
}): ConvertedMatch {
  const [ofHeaders, ofQuery] = [Object.keys(headers).length, Object.keys(queryParams).length];
  return {
    ...(at === undefined ? {} : { at }),
    match: {
      uri: path.uri,
      ...(method === undefined ? {} : { method: { exact: method } }),
      ...(ofHeaders > 0 ? { headers } : {}),
      ...(ofQuery > 0 ? { queryParams } : {}),
    },
    order: {
      ...{ path: path.rank, length: path.length, method: method !== undefined },
      ...{ headers: ofHeaders, queryParams: ofQuery },
    },
    ...(path.prefix === undefined ? {} : { prefix: path.prefix }),
  };
}

function httpPath(path: HTTPRouteMatch["path"], field: string, report: ReportRefusal): PathCondition | undefined {
  if (path === undefined) return ANY_PATH;
  const { type, value } = path;
  if (type === "RegularExpression") return expression(value, `${field}.value`, value, report);
  if (!value.startsWith("/") || /[?#\s]/.test(value)) {
    report("UnsupportedValue", `${field}.value`, value, "a path that begins with /, without ?, # and blanks");
    return undefined;
  }
  if (type === "Exact") return { uri: { exact: value }, rank: PATH_RANK.exact, length: value.length };
  const prefix = withoutEnd(value, "/");
  return prefix === "" ? ANY_PATH : { uri: { prefix }, rank: PATH_RANK.prefix, length: prefix.length, prefix };
}

function grpcPath(called: GRPCRouteMatch["method"], field: string, report: ReportRefusal): PathCondition | undefined {
  const { type = "Exact", service = "", method = "" } = called ?? {};
  if (service === "" && method === "") return ANY_PATH;
  const whole = `${service}${method}`;
  if (type === "RegularExpression") {
    const text = `/${service === "" ? "[^/]+" : `(?:${service})`}/${method === "" ? "[^/]+" : `(?:${method})`}`;
    return expression(text, field, called, report, whole.length);
  }
  if (!/^[\w.]*$/.test(whole)) {
    report("UnsupportedValue", field, called, "names of letters, digits, . and _");
    return undefined;
  }
  if (service === "") return expression(`/[^/]+/${literally(method)}`, field, called, report, method.length);
  if (method === "") return { uri: { prefix: `/${service}` }, rank: PATH_RANK.prefix, length: service.length + 1 };
  const exact = `/${service}/${method}`;
  return { uri: { exact }, rank: PATH_RANK.exact, length: exact.length };
}

function expression(
  regex: string,
  field: string,
  written: unknown,
  report: ReportRefusal,
  length = regex.length,
): PathCondition | undefined {
  const problem = regexProblem(regex);
  if (problem === undefined) return { uri: { regex }, rank: PATH_RANK.expression, length };
  report("UnsupportedValue", field, written, problem);
  return undefined;
}

interface NamedCondition {
  readonly name: string;
  readonly type: "Exact" | "RegularExpression";
  readonly value: string;
}

/**
 * Conditions by name: the first of equal names counts. Undefined: a condition cannot be compared.
 *
 * @param anyCase Whether names in other letter case are equal.
 */
function named(
  conditions: readonly NamedCondition[] | undefined,
  field: string,
  anyCase: boolean,
  report: ReportRefusal,
): Record<string, StringMatch> | undefined {
  const found: Record<string, StringMatch> = {};
  for (const [at, { name, type, value }] of (conditions ?? []).entries()) {
    const key = anyCase ? name.toLowerCase() : name;
    if (Object.hasOwn(found, key)) continue;
    const problem = type === "RegularExpression" ? regexProblem(value) : undefined;
    if (problem !== undefined) {
      report("UnsupportedValue", `${field}[${at}].value`, value, problem);
      return undefined;
    }
    found[key] = type === "RegularExpression" ? { regex: value } : { exact: value };
  }
  return found;
}
