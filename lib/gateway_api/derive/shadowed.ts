/**
 * Matches that no request reaches, because a rule before them has the same match.
 *
 * The rules of a host are sorted from narrow matches to wide matches. So an earlier rule takes all requests of a later rule
 * only if both have the same match.
 *
 * @module
 */
import type { HttpRoute } from "../../config/kinds/kinds.ts";
import type { RuleSource } from "../../config/kinds/virtual_service/internal.ts";
import { type ConvertedRoute, inOrder } from "./order.ts";

/** A match of a rule of a route. */
export type MatchPlace = RuleSource;

/** A match that no request of a host reaches. */
export interface ShadowedMatch {
  readonly match: MatchPlace;
  /** The match that takes the requests. */
  readonly winner: MatchPlace;
  /** Hosts whose requests never reach the match. */
  readonly hosts: readonly string[];
}

/** Shadowed matches by key of their route. Routes without a shadowed match are absent. */
export type ShadowedMatches = ReadonlyMap<string, readonly ShadowedMatch[]>;

/** The shadowed matches of the rules of one host. */
export function shadowedMatches(host: string, routes: readonly ConvertedRoute[]): readonly ShadowedMatch[] {
  if (routes.length === 1 && routes[0]!.rules.length < 2) return NONE;
  const first = new Map<string, MatchPlace>();
  const found: ShadowedMatch[] = [];
  for (const { rule } of inOrder(routes)) {
    const source = rule.internal?.source;
    if (source === undefined) continue;
    const text = matchText(rule);
    const winner = first.get(text);
    if (winner === undefined) first.set(text, source);
    else found.push({ match: source, winner, hosts: [host] });
  }
  return found.length === 0 ? NONE : found;
}

const NONE: readonly ShadowedMatch[] = Object.freeze([]);

/** The shadowed matches of several hosts, each match once for each winner. */
export function joinedShadowed(lists: Iterable<readonly ShadowedMatch[]>): ShadowedMatches {
  // By source of the match, then by source of the winner. Hosts share the rules of a route, and so their sources.
  const found = new Map<MatchPlace, Map<MatchPlace, Set<string>>>();
  for (const list of lists) {
    for (const { match, winner, hosts } of list) {
      const known = found.getOrInsertComputed(match, () => new Map()).getOrInsertComputed(winner, () => new Set());
      for (const host of hosts) known.add(host);
    }
  }
  const byRoute = new Map<string, ShadowedMatch[]>();
  for (const [match, winners] of found) {
    const list = byRoute.getOrInsertComputed(`${match.kind}/${match.namespace}/${match.name}`, () => []);
    for (const [winner, hosts] of winners) list.push({ match, winner, hosts: [...hosts] });
  }
  return byRoute;
}

/** Texts of matches. Rules are kept as long as their route, and compared on each of its hosts. */
const texts = new WeakMap<HttpRoute, string>();

function matchText(rule: HttpRoute): string {
  let text = texts.get(rule);
  if (text === undefined) {
    const [{ uri, method, headers = {}, queryParams = {} } = {}] = rule.match ?? [];
    texts.set(rule, text = JSON.stringify([uri, method, sorted(headers), sorted(queryParams)]));
  }
  return text;
}

function sorted(conditions: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(conditions).sort(([a], [b]) => (a < b ? -1 : 1));
}
