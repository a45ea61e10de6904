/**
 * Well-formed values of AuthorizationPolicies that match no request.
 *
 * @module
 */
import type { AuthorizationOperation, AuthorizationSource } from "../../config/kinds/kinds.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";

export const POLICY_PATTERNS: Analyzer<"AuthorizationPolicy"> = {
  kind: "AuthorizationPolicy",
  reports: ["matches-no-request"],
  analyze: ({ spec: { rules = [] } }, _read, report) => {
    for (const [at, { from = [], to = [] }] of rules.entries()) {
      for (const [position, { source = {} }] of from.entries()) {
        look(`spec.rules[${at}].from[${position}].source`, source, SOURCE, report);
      }
      for (const [position, { operation = {} }] of to.entries()) {
        look(`spec.rules[${at}].to[${position}].operation`, operation, OPERATION, report);
      }
    }
  },
};

function look<T extends object>(
  path: string,
  values: T,
  fields: readonly PatternField<T>[],
  report: ReportMistake,
): void {
  for (const { name, expects } of fields) {
    for (const [index, value] of ((values[name] ?? []) as readonly string[]).entries()) {
      const expected = expects(value);
      const field = `${path}.${String(name)}[${index}]`;
      if (expected !== undefined) report("warning", "matches-no-request", { field, value, expected });
    }
  }
}

interface PatternField<T> {
  readonly name: keyof T;
  /** A value that would match requests; undefined: the given value matches. */
  readonly expects: (value: string) => string | undefined;
}

const SOURCE: readonly PatternField<AuthorizationSource>[] = (
  ["principals", "notPrincipals", "requestPrincipals", "notRequestPrincipals", "namespaces", "notNamespaces"] as const
).map((name) => ({ name, expects: oneStar }));

const OPERATION: readonly PatternField<AuthorizationOperation>[] = [
  ...(["hosts", "notHosts"] as const).map((name) => ({ name, expects: host })),
  ...(["methods", "notMethods"] as const).map((name) => ({ name, expects: method })),
  ...(["paths", "notPaths"] as const).map((name) => ({ name, expects: path })),
];

/** A star is a wildcard only at either end. Elsewhere a star is a plain character. */
function oneStar(value: string): string | undefined {
  const inner = value.replace(/^\*/, "").replace(/\*$/, "");
  const isBoth = value.length > 1 && value.startsWith("*") && value.endsWith("*");
  return inner.includes("*") || isBoth
    ? "one * at the beginning or at the end (elsewhere it stands for itself)"
    : undefined;
}

/** Methods are case-sensitive, and programs send upper case. */
function method(value: string): string | undefined {
  return /[a-z]/.test(value) ? `${value.toUpperCase()} (methods are case-sensitive)` : oneStar(value);
}

/** People copy a host with a path from an address, but the host of a request has no path. */
function host(value: string): string | undefined {
  return value.includes("/")
    ? "a host alone, or a host and its port (paths have a field of their own)"
    : oneStar(value);
}

/** Templates have wildcards of their own. */
function path(value: string): string | undefined {
  if (value.includes("?") || value.includes("#")) {
    return "a path without query and fragment (both are removed before paths are compared)";
  }
  if (value.includes("{")) return undefined;
  if (!/^[/*]/.test(value)) return "a path that begins with / (or with *), like every path of a request";
  return oneStar(value) && `${oneStar(value)}, or a template such as /a/{*}/b`;
}
