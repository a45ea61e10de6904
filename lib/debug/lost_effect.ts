/**
 * What takes the effect of an object away, or a part of it: findings of the analysis, and of translation.
 *
 * @module
 */
import type { FindingName } from "../config/finding/codes.ts";
import { type Finding, findingKeys } from "../config/finding/finding.ts";
import type { DebugView } from "./view.ts";

/** Findings of translation by which their first object does not do what it says. */
const TAKES_EFFECT: ReadonlySet<FindingName> = new Set<FindingName>([
  "unresolved-reference",
  "listener-conflict",
  "tcp-listener-conflict",
  "inbound-conflict",
  "domain-conflict",
  "gateway-not-as-written",
  "not-as-written",
]);

/** The findings by which an object is not in force as it is written, in any order. */
export function lostEffects(key: string, view: DebugView): Finding[] {
  const found = view.analysis.findingsOf(key).filter(({ severity }) => severity === "error");
  for (const warning of view.warnings()) {
    const [first, ...others] = findingKeys(warning);
    // Of several rules with one subset the first is in force.
    const isLoser = warning.name === "duplicate-subset" ? others.includes(key) : first === key;
    if (isLoser && (warning.name === "duplicate-subset" || TAKES_EFFECT.has(warning.name))) found.push(warning);
  }
  return found;
}

/** The findings of translation by which some object is not in force as it is written. */
export function* lostInTranslation(view: DebugView): Iterable<Finding> {
  for (const warning of view.warnings()) {
    if (warning.name === "duplicate-subset" || TAKES_EFFECT.has(warning.name)) yield warning;
  }
}
