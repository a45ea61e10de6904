/**
 * Warnings about rules that no request can reach, because an earlier rule takes all their requests.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import type { StringMatch } from "../common/schema.ts";
import type { HttpMatchRequest, VirtualServiceSpec } from "./schema.ts";

/** Prefix matches compared with each other at most; the comparison is quadratic. */
const MAX_COMPARED = 500;

interface ReachableRule {
  readonly name?: string;
  readonly match?: readonly object[];
}

/** Warns about unreachable rules of all three protocols. */
export function warnUnreachable(spec: VirtualServiceSpec, report: Findings): void {
  warnShadowed(spec.http ?? [], "spec.http", report);
  warnShadowed(spec.tls ?? [], "spec.tls", report);
  warnShadowed(spec.tcp ?? [], "spec.tcp", report);
  warnCoveredPrefixes(spec, report);
}

/** Equal matches, and all rules after a rule that matches everything. */
function warnShadowed(rules: readonly ReachableRule[], at: string, report: Findings): void {
  const firstWith = new Map<string, string>();
  let catchAll: string | undefined;
  rules.forEach((rule, index) => {
    const where = `${at}[${index}]`;
    const matches = rule.match ?? [];
    if (catchAll !== undefined) {
      report.warning(
        where,
        rule.name ?? `#${index}`,
        `to stand before ${catchAll}, which has no match and takes everything`,
        "unreachable-rule",
      );
      return;
    }
    if (matches.length === 0) catchAll = where;
    let duplicates = 0;
    matches.forEach((match, position) => {
      const key = matchKey(match);
      const earlier = firstWith.get(key);
      if (earlier === undefined) firstWith.set(key, where);
      else {
        duplicates += 1;
        report.warning(
          `${where}.match[${position}]`,
          match,
          `a match that ${earlier} does not have already (this one is never used)`,
          "ineffective-match",
        );
      }
    });
    if (matches.length > 0 && duplicates === matches.length) {
      report.warning(
        where,
        rule.name ?? `#${index}`,
        "at least one match that earlier rules do not have (this rule is never used)",
        "unreachable-rule",
      );
    }
  });
}

/** The text of a match without its name: decoded matches have their fields and keys in one order. */
function matchKey(match: object): string {
  return JSON.stringify({ ...match, name: undefined });
}

/** A longer uri prefix after a shorter prefix with the same other conditions is never used. */
function warnCoveredPrefixes(spec: VirtualServiceSpec, report: Findings): void {
  const matches = (spec.http ?? []).flatMap((route, index) =>
    (route.match ?? []).flatMap((match, position) =>
      match.uri?.prefix ? [{ match, prefix: match.uri.prefix, at: `spec.http[${index}].match[${position}]` }] : []
    )
  ).slice(0, MAX_COMPARED);
  matches.forEach((earlier, index) => {
    for (const later of matches.slice(index + 1)) {
      if (earlier.prefix === later.prefix || !later.prefix.startsWith(earlier.prefix)) continue;
      if (!covers(earlier.match, later.match)) continue;
      const expected = `to stand before ${earlier.at}, whose prefix ${earlier.prefix} takes all of its requests`;
      report.warning(later.at, later.prefix, expected, "ineffective-match");
    }
  });
}

/** Whether the later match has all conditions of the earlier match. */
function covers(earlier: HttpMatchRequest, later: HttpMatchRequest): boolean {
  return earlier.port === later.port &&
    isWider(earlier.method, later.method) && isWider(earlier.authority, later.authority) &&
    earlier.scheme === undefined && earlier.sourceNamespace === undefined && earlier.sourceLabels === undefined &&
    (earlier.gateways === undefined || JSON.stringify(earlier.gateways) === JSON.stringify(later.gateways)) &&
    areWider(earlier.headers, later.headers) &&
    areWider(earlier.queryParams, later.queryParams) &&
    JSON.stringify(earlier.withoutHeaders) === JSON.stringify(later.withoutHeaders);
}

function areWider(
  earlier: Readonly<Record<string, StringMatch>> = {},
  later: Readonly<Record<string, StringMatch>> = {},
): boolean {
  return Object.entries(earlier).every(([key, value]) => Object.hasOwn(later, key) && isWider(value, later[key]));
}

/** Whether all strings of the later match are strings of the earlier match; unsure counts as no. */
function isWider(earlier: StringMatch | undefined, later: StringMatch | undefined): boolean {
  if (earlier === undefined) return true;
  if (later === undefined) return false;
  if (earlier.prefix !== undefined) return (later.exact ?? later.prefix)?.startsWith(earlier.prefix) === true;
  return JSON.stringify(earlier) === JSON.stringify(later);
}
