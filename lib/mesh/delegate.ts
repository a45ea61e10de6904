/**
 * Merging the http rules of a delegate into the naming rule of the root.
 *
 * A delegate may only narrow the root's matches. A condition of the delegate outside every condition of the root drops
 * the rule of the delegate.
 *
 * @module
 */
import type { HttpMatchRequest, HttpRoute, StringMatch } from "../config/kinds/kinds.ts";

import { joinedHeaders } from "./delegate_headers.ts";

/** Rules in place of a root's rule, and the reasons for missing rules. */
export interface MergedRules {
  readonly routes: readonly HttpRoute[];
  /** The position of each rule in the delegate. */
  readonly positions: readonly number[];
  readonly problems: readonly string[];
}

/**
 * The rules of a delegate, narrowed by the root's rule. Fields unset in the delegate's rule come from the root. Header
 * operations of both rules hold.
 *
 * @param root The rule with `delegate`.
 * @param rules The delegate's http rules, in order.
 */
export function mergeDelegate(root: HttpRoute, rules: readonly HttpRoute[]): MergedRules {
  const { delegate: _, match: rootMatch, name: rootName, ...inherited } = root;
  const routes: HttpRoute[] = [];
  const positions: number[] = [];
  const problems: string[] = [];
  rules.forEach((rule, index) => {
    const label = rule.name ? `"${rule.name}"` : `${index}`;
    if (rule.delegate) {
      problems.push(`rule ${label} of the delegate delegates again; only one level is allowed`);
      return;
    }
    const match = mergeMatches(rootMatch ?? [], rule.match ?? []);
    if (!match) {
      problems.push(`no match of rule ${label} of the delegate lies within the matches of the root's rule`);
      return;
    }
    const { match: _own, name, ...own } = rule;
    const merged = joinNames(rootName, name);
    const { headers, lost } = joinedHeaders(root.headers, rule.headers);
    for (const operation of lost) {
      problems.push(`headers.${operation} of the root's rule gives way to rule ${label} of the delegate`);
    }
    positions.push(index);
    routes.push({
      ...(merged === undefined ? {} : { name: merged }),
      ...(match.length ? { match } : {}),
      ...(own.mirror || own.mirrors ? withoutMirrors(inherited) : inherited),
      ...own,
      ...(headers && { headers }),
    });
  });
  return { routes, positions, problems };
}

/** Both spellings of mirrors are a single field: mirrors of the delegate replace mirrors of the root. */
function withoutMirrors(rule: HttpRoute): HttpRoute {
  const { mirror: _mirror, mirrors: _mirrors, mirrorPercent: _percent, mirrorPercentage: _percentage, ...rest } = rule;
  return rest;
}

function joinNames(root: string | undefined, delegate: string | undefined): string | undefined {
  if (!delegate) return root;
  return root ? `${root}-${delegate}` : delegate;
}

function mergeMatches(
  root: readonly HttpMatchRequest[],
  delegate: readonly HttpMatchRequest[],
): readonly HttpMatchRequest[] | undefined {
  if (!root.length) return delegate;
  if (!delegate.length) return root;
  const merged: HttpMatchRequest[] = [];
  for (const narrow of delegate) {
    const within = root.filter((wide) => contains(wide, narrow));
    if (!within.length) return undefined;
    for (const wide of within) merged.push(mergeMatch(wide, narrow));
  }
  return merged;
}

function mergeMatch(wide: HttpMatchRequest, narrow: HttpMatchRequest): HttpMatchRequest {
  const name = joinNames(wide.name, narrow.name);
  const maps = {
    headers: { ...wide.headers, ...narrow.headers },
    withoutHeaders: { ...wide.withoutHeaders, ...narrow.withoutHeaders },
    queryParams: { ...wide.queryParams, ...narrow.queryParams },
    sourceLabels: { ...wide.sourceLabels, ...narrow.sourceLabels },
  };
  const filled = Object.fromEntries(Object.entries(maps).filter(([, map]) => Object.keys(map).length > 0));
  return { ...wide, ...narrow, ...filled, ...(name === undefined ? {} : { name }) };
}

/** Whether `wide` may match every request of `narrow`. */
function contains(wide: HttpMatchRequest, narrow: HttpMatchRequest): boolean {
  for (const field of ["uri", "scheme", "method", "authority"] as const) {
    if (!containsString(wide[field], narrow[field])) return false;
  }
  for (const field of ["headers", "queryParams"] as const) {
    for (const [key, value] of Object.entries(narrow[field] ?? {})) {
      if (!containsString(wide[field]?.[key], value)) return false;
    }
  }
  // An exclusion narrows by excluding more.
  for (const [key, value] of Object.entries(narrow.withoutHeaders ?? {})) {
    if (!containsString(value, wide.withoutHeaders?.[key])) return false;
  }
  if ((wide.ignoreUriCase ?? false) !== (narrow.ignoreUriCase ?? false)) return false;
  if (differ(wide.port, narrow.port) || differ(wide.sourceNamespace, narrow.sourceNamespace)) return false;
  for (const [key, value] of Object.entries(narrow.sourceLabels ?? {})) {
    if (differ(wide.sourceLabels?.[key], value)) return false;
  }
  const gateways = wide.gateways;
  return !gateways?.length || (narrow.gateways ?? []).every((gateway) => gateways.includes(gateway));
}

function differ<T>(a: T | undefined, b: T | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

/** Regular expressions are not compared: beside another condition on the same value they always clash. */
function containsString(wide: StringMatch | undefined, narrow: StringMatch | undefined): boolean {
  if (!wide || !narrow || asksPresence(wide)) return true;
  if (wide.regex !== undefined || narrow.regex !== undefined || asksPresence(narrow)) return false;
  if (wide.exact !== undefined) return narrow.exact === wide.exact;
  return (narrow.prefix ?? narrow.exact ?? "").startsWith(wide.prefix ?? "");
}

function asksPresence(match: StringMatch): boolean {
  return match.exact === undefined && match.prefix === undefined && match.regex === undefined;
}
