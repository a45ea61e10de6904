/**
 * The order of rules of all routes on a host: the more specific rule first.
 *
 * @module
 */
import { compareTexts } from "../../kernel/text/compare.ts";
import type { HttpRoute } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";

/** How specific the path of a match is. A higher rank goes first. */
export const PATH_RANK = { exact: 3, prefix: 2, expression: 1, any: 0 } as const;

/** How specific a match is. */
export interface MatchOrder {
  /**
   * Rank of the path. A regular expression comes after all prefixes except for `/`: after a rule for every path, no request
   * would reach the expression.
   */
  readonly path: number;
  /** Length of the path, characters. */
  readonly length: number;
  readonly method: boolean;
  /** Number of conditions on headers. */
  readonly headers: number;
  /** Number of conditions on query parameters. */
  readonly queryParams: number;
}

/** A converted rule: one match of a rule of a route. */
export interface ConvertedRule {
  readonly order: MatchOrder;
  readonly rule: HttpRoute;
}

/** The converted rules of a route. */
export interface ConvertedRoute {
  readonly route: Pick<ConfigObject<"HTTPRoute" | "GRPCRoute">, "kind" | "meta">;
  /** In the order of rules and matches. */
  readonly rules: readonly ConvertedRule[];
}

/**
 * The rules of several routes as one list: by their matches, then the older route first, then by namespace and name,
 * then in the order of the route.
 */
export function merged(routes: readonly ConvertedRoute[]): HttpRoute[] {
  return inOrder(routes).map(({ rule }) => rule);
}

/** The rules of {@linkcode merged}, each with its place in its route. */
export function inOrder(routes: readonly ConvertedRoute[]): { readonly rule: HttpRoute; readonly at: number }[] {
  const rules = routes.flatMap(({ route: { kind, meta }, rules }) => {
    const age = { created: meta.creationTimestamp, name: `${meta.namespace}/${meta.name} ${kind}` };
    return rules.map(({ order, rule }, at) => ({ order, age, at, rule }));
  });
  rules.sort((a, b) =>
    compareMatches(a.order, b.order) || a.age.created - b.age.created || compareTexts(a.age.name, b.age.name) ||
    a.at - b.at
  );
  return rules;
}

/** Negative: the first match is more specific. */
function compareMatches(a: MatchOrder, b: MatchOrder): number {
  return b.path - a.path || b.length - a.length || Number(b.method) - Number(a.method) || b.headers - a.headers ||
    b.queryParams - a.queryParams;
}
