/**
 * Rules of routes that are not served as written, and matches that no request reaches.
 *
 * @module
 */
import type { RequestRoute } from "../../gateway_api/derive/rules.ts";
import type { MatchPlace } from "../../gateway_api/derive/shadowed.ts";
import type { Analyzer } from "../analyzer.ts";

const KINDS = ["HTTPRoute", "GRPCRoute"] as const;

/** Analyzers of rules that cannot be served as written. */
export const REFUSED_RULES: readonly Analyzer<typeof KINDS[number]>[] = KINDS.map((kind) => ({
  kind,
  reports: ["refused-rule"],
  analyze: ({ key }, read, report) => {
    const said = new Set<string>();
    for (const { rules } of read.gatewayApi?.route(key) ?? []) {
      for (const { field, value, expected, message } of rules?.refusals ?? []) {
        if (said.has(message)) continue;
        said.add(message);
        const shown = value === "" ? {} : { value: parsed(value) };
        report("error", "refused-rule", { field: `spec.${field}`, ...shown, expected });
      }
    }
  },
}));

/** Analyzers of sessions on a server whose proxies keep no sessions. */
export const IGNORED_SESSIONS: readonly Analyzer<typeof KINDS[number]>[] = KINDS.map((kind) => ({
  kind,
  reports: ["refused-rule"],
  analyze: (route, { gatewayApi }, report) => {
    if (gatewayApi === undefined || gatewayApi.options.keepsSessions) return;
    const { spec: { rules = [] } } = route as RequestRoute;
    for (const [index, { sessionPersistence }] of rules.entries()) {
      if (sessionPersistence === undefined) continue;
      report("warning", "refused-rule", {
        field: `spec.rules[${index}].sessionPersistence`,
        value: sessionPersistence.type,
        expected: "PILOT_ENABLE_PERSISTENT_SESSION_FILTER=true",
        effect: "The rule serves. Requests of one session go to any endpoint.",
      });
    }
  },
}));

/** The value of a shown text. The text may be cut, and is then shown as it is. */
function parsed(shown: string): unknown {
  try {
    return JSON.parse(shown);
  } catch {
    return shown;
  }
}

/** Most hosts in a message. */
const MOST_HOSTS = 3;

/** Analyzers of matches that another rule takes. */
export const SHADOWED_MATCHES: readonly Analyzer<typeof KINDS[number]>[] = KINDS.map((kind) => ({
  kind,
  reports: ["match-of-another-rule"],
  analyze: (route, read, report) => {
    for (const { match, winner, hosts } of read.gatewayApi?.shadowed(route.key) ?? []) {
      const shown = hosts.slice(0, MOST_HOSTS).map((host) => (host === "*" ? "any host" : host)).join(", ");
      const at = hosts.length > MOST_HOSTS ? `${shown} and others` : shown;
      const isOwn = keyOf(winner) === route.key;
      report("warning", "match-of-another-rule", {
        field: match.match === undefined
          ? `spec.rules[${match.rule}]`
          : `spec.rules[${match.rule}].matches[${match.match}]`,
        value: writtenMatch(route as RequestRoute, match),
        expected: `a match that no other rule has at ${at} (${placeText(winner, isOwn)} has it)`,
        effect: `No request for ${at} reaches the rule by this match; ${placeText(winner, isOwn)} answers.`,
        others: isOwn ? [] : [keyOf(winner)],
      });
    }
  },
}));

function keyOf({ kind, namespace, name }: MatchPlace): string {
  return `${kind}/${namespace}/${name}`;
}

/** `HTTPRoute shop/web rule 2 match 0`. */
function placeText({ kind, namespace, name, rule, match }: MatchPlace, isOwn: boolean): string {
  const route = isOwn ? "" : `${kind} ${namespace}/${name} `;
  return `${route}rule ${rule}${match === undefined ? "" : ` match ${match}`}`;
}

function writtenMatch({ spec }: RequestRoute, { rule, match }: MatchPlace): unknown {
  const rules: readonly { readonly matches?: readonly unknown[] }[] = spec.rules ?? [];
  return match === undefined ? undefined : rules[rule]?.matches?.[match];
}
