/**
 * Well-formed matches of VirtualServices that no request meets.
 *
 * @module
 */
import type { StringMatch } from "../../config/kinds/kinds.ts";
import type { Analyzer } from "../analyzer.ts";

export const ROUTE_PATTERNS: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["matches-no-request"],
  analyze: ({ spec: { http = [] } }, _read, report) => {
    for (const [rule, { match = [] }] of http.entries()) {
      for (const [at, { uri, method }] of match.entries()) {
        for (const [name, one, expects] of [["uri", uri, path], ["method", method, upperCase]] as const) {
          const found = one && expects(one);
          if (found === undefined) continue;
          const { form, value, expected } = found;
          const field = `spec.http[${rule}].match[${at}].${name}.${form}`;
          report("warning", "matches-no-request", { field, value, expected });
        }
      }
    }
  },
};

interface WrongMatch {
  readonly form: "exact" | "prefix";
  readonly value: string;
  readonly expected: string;
}

/** The path of OPTIONS may be `*`, and CONNECT has no path. */
function path({ exact, prefix }: StringMatch): WrongMatch | undefined {
  const [form, value] = exact === undefined ? ["prefix", prefix] as const : ["exact", exact] as const;
  if (value === undefined || value === "" || value === "*" || value.startsWith("/")) return undefined;
  return { form, value, expected: "a path that begins with /, like every path of a request" };
}

function upperCase({ exact }: StringMatch): WrongMatch | undefined {
  if (exact === undefined || !/[a-z]/.test(exact)) return undefined;
  return { form: "exact", value: exact, expected: `${exact.toUpperCase()} (methods are case-sensitive)` };
}
