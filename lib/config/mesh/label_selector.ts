/**
 * Label selectors of the orchestrator: matches and mistakes.
 *
 * @module
 */
import type { Findings } from "../../finding/findings.ts";
import { hasFittingValues, meetsConditions, needsValues } from "../../kernel/labels/selector.ts";
import { ownKey } from "../spelling/spelling.ts";
import type { LabelSelector } from "./types.ts";

/** Whether labels meet a selector, by the orchestrator's rules. All labels meet an empty selector. */
export function meetsLabelSelector(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  return meetsConditions(selector, (key) => {
    const own = ownKey(key);
    return Object.hasOwn(labels, own) ? labels[own] : undefined;
  });
}

/** Checks the requirements of selectors: some operators need values, others must not have values. */
export function checkLabelSelectors(selectors: readonly LabelSelector[], at: string, report: Findings): void {
  selectors.forEach((selector, index) => checkLabelSelector(selector, `${at}[${index}]`, report));
}

/** Checks the requirements of one selector. */
export function checkLabelSelector({ matchExpressions = [] }: LabelSelector, at: string, report: Findings): void {
  matchExpressions.forEach((requirement, position) => {
    if (hasFittingValues(requirement)) return;
    const { operator, values = [] } = requirement;
    const expected = needsValues(operator) ? `at least one value for ${operator}` : `no values for ${operator}`;
    report.error(`${at}.matchExpressions[${position}].values`, values, expected);
  });
}
