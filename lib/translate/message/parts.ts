/**
 * The parts of objects that are in a message: the rules of VirtualServices and their matches, the servers of Gateways.
 *
 * @module
 */
import type { EffectiveVirtualService, RuleProtocol } from "../../mesh/types.ts";

/** A rule of a virtual service as it stands in its effective form, with the match by which it is in a message. */
export interface UsedRule {
  readonly rule: number;
  /** Absent: the rule has no match, or is in the message by no certain one. */
  readonly match?: number;
}

/**
 * Names the rules of a virtual service that are in a message, and those of its delegates, as encoded resources name
 * parts. Of an object without any the list is empty: nothing of it is in the message.
 */
export function ruleParts(vs: EffectiveVirtualService, list: RuleProtocol, used: Iterable<UsedRule>): string[] {
  const positions = new Map(vs.causes.map((key) => [key, new Set<string>()]));
  const [root = ""] = vs.causes;
  for (const { rule, match } of used) {
    const origin = list === "http" ? vs.httpOrigins?.[rule] : undefined;
    if (origin?.delegate !== undefined) {
      // Matches of both are merged into others, which stand for none of them.
      positions.get(root)?.add(`${origin.rule}`);
      positions.get(origin.delegate.key)?.add(`${origin.delegate.rule}`);
    } else {
      positions.get(root)?.add(match === undefined ? `${origin?.rule ?? rule}` : `${origin?.rule ?? rule}.${match}`);
    }
  }
  return [...positions].map(([key, at]) => [key, list, ...at].join(" "));
}

/** Names servers of Gateways that are in a message. */
export function serverParts(servers: Iterable<{ readonly cause: string; readonly index: number }>): string[] {
  const positions = new Map<string, Set<number>>();
  for (const { cause, index } of servers) positions.getOrInsertComputed(cause, () => new Set()).add(index);
  return [...positions].map(([key, at]) => [key, "servers", ...at].join(" "));
}

/** Lists of parts as one: each object with its positions once. */
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
