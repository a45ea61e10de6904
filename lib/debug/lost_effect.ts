/**
 * The findings of the analysis and of translation that take the effect of an object away, or a part of it.
 *
 * @module
 */
import { type Finding, findingKeys, isLoss } from "../finding/finding.ts";
import { saidOnce } from "../finding/said_once.ts";
import type { DebugView } from "./view.ts";

/** The findings by which an object is not in force as it is written, in any order. */
export function lostEffects(key: string, view: DebugView): readonly Finding[] {
  const found = view.analysis.findingsOf(key).filter(isLoss);
  for (const one of lostInTranslation(view)) if (findingKeys(one)[0] === key) found.push(one);
  return saidOnce(found);
}

/** The findings of translation by which some object is not in force as it is written: the first that each names. */
export function* lostInTranslation(view: DebugView): Iterable<Finding> {
  for (const one of view.warnings()) if (isLoss(one)) yield one;
}
