/**
 * The parts of objects in a message: rules of VirtualServices and of routes with matches, and servers of Gateways.
 *
 * @module
 */
import { ruleSourceKey } from "../../config/kinds/virtual_service/internal.ts";
import type { EffectiveVirtualService, RuleProtocol } from "../../mesh/types.ts";

/** A rule by its position in the effective virtual service, with the match used in a message. */
export interface UsedRule {
  readonly rule: number;
  /** Absent: the rule has no match, or no certain match is in the message. */
  readonly match?: number;
}

/**
 * The rules of a virtual service, and of its delegates, that are in a message, as parts of an encoded resource. For an
 * object without a rule in the message, the list of positions is empty. A rule that a derivation made is also a part of
 * the route behind the rule: `HTTPRoute/shop/web rules 2.0`.
 */
export function ruleParts(vs: EffectiveVirtualService, list: RuleProtocol, used: Iterable<UsedRule>): string[] {
  const positions = new Map(vs.causes.map((key) => [key, new Set<string>()]));
  const [root = ""] = vs.causes;
  const routes = new Set<string>();
  for (const { internal } of list === "http" ? vs.spec.http ?? [] : []) {
    if (internal) routes.add(ruleSourceKey(internal.source));
  }
  for (const { rule, match } of used) {
    const source = list === "http" ? vs.spec.http?.[rule]?.internal?.source : undefined;
    if (source) {
      positions.get(ruleSourceKey(source))?.add(
        source.match === undefined ? `${source.rule}` : `${source.rule}.${source.match}`,
      );
    }
    const origin = list === "http" ? vs.httpOrigins?.[rule] : undefined;
    if (origin?.delegate !== undefined) {
      // Matches of root and delegate are merged, so neither match stands alone.
      positions.get(root)?.add(`${origin.rule}`);
      positions.get(origin.delegate.key)?.add(`${origin.delegate.rule}`);
    } else {
      positions.get(root)?.add(match === undefined ? `${origin?.rule ?? rule}` : `${origin?.rule ?? rule}.${match}`);
    }
  }
  return [...positions].map(([key, at]) => [key, routes.has(key) ? "rules" : list, ...at].join(" "));
}

/** The servers of Gateways that are in a message, as parts of an encoded resource. */
export function serverParts(servers: Iterable<{ readonly cause: string; readonly index: number }>): string[] {
  const positions = new Map<string, Set<number>>();
  for (const { cause, index } of servers) positions.getOrInsertComputed(cause, () => new Set()).add(index);
  return [...positions].map(([key, at]) => [key, "servers", ...at].join(" "));
}

/** Joins lists of parts: each object once, with all its positions. */
export function joinedParts(lists: Iterable<readonly string[]>): string[] {
  const positions = new Map<string, Set<string>>();
  for (const list of lists) {
    for (const part of list) {
      const [key = "", name = "", ...at] = part.split(" ");
      const known = positions.getOrInsertComputed(`${key} ${name}`, () => new Set());
      for (const one of at) known.add(one);
    }
  }
  return [...positions].map(([name, at]) => [name, ...at].join(" "));
}
