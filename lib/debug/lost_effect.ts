/**
 * The findings about objects that have lost their effect, wholly or in part. The sources are the analysis and
 * translation.
 *
 * @module
 */
import { type Finding, findingKeys, isLoss } from "../finding/finding.ts";
import { saidOnce } from "../finding/said_once.ts";
import type { DebugView } from "./view.ts";

/** The findings that say why an object is not in force as written, in any order. */
export function lostEffects(key: string, view: DebugView): readonly Finding[] {
  const found = view.analysis.findingsOf(key).filter(isLoss);
  for (const one of lostInTranslation(view)) if (findingKeys(one)[0] === key) found.push(one);
  return saidOnce(found);
}

/**
 * The findings of translation that say why an object is not in force as written. The first named object is affected.
 */
export function* lostInTranslation(view: DebugView): Iterable<Finding> {
  for (const one of view.warnings()) if (isLoss(one)) yield one;
}
