/**
 * Label selectors of the orchestrator: matches and mistakes.
 *
 * @module
 */
import type { Findings } from "../../finding/findings.ts";
import { ownKey } from "../spelling/spelling.ts";
import type { LabelSelector, LabelSelectorRequirement } from "./types.ts";

/** Whether labels meet a selector, by the orchestrator's rules. All labels meet an empty selector. */
export function meetsLabelSelector(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(matchLabels).every(([key, value]) => valueOf(labels, key) === value) &&
    matchExpressions.every((requirement) => meets(requirement, valueOf(labels, ownKey(requirement.key))));
}

function meets({ operator, values = [] }: LabelSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
  }
}

function valueOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** Checks the requirements of selectors: some operators need values, others must not have values. */
export function checkLabelSelectors(selectors: readonly LabelSelector[], at: string, report: Findings): void {
  selectors.forEach(({ matchExpressions = [] }, index) =>
    matchExpressions.forEach(({ operator, values = [] }, position) => {
      const needsValues = operator === "In" || operator === "NotIn";
      if (needsValues === values.length > 0) return;
      const expected = needsValues ? `at least one value for ${operator}` : `no values for ${operator}`;
      report.error(`${at}[${index}].matchExpressions[${position}].values`, values, expected);
    })
  );
}
