/**
 * Conditions on labels, as selectors of an orchestrator have them. Light: the node's plugin reads selectors, and a
 * container runtime waits for the plugin.
 *
 * @module
 */

/** Operators of a requirement. */
export const LABEL_OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"] as const;

/** An operator of a requirement. */
export type LabelOperator = (typeof LABEL_OPERATORS)[number];

/** A condition on one label. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Needed by `In` and `NotIn`, and by no other operator. Default: none. */
  readonly values?: readonly string[];
}

/** Conditions that must all hold. Without conditions a selector selects everything. */
export interface LabelConditions {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

/** Whether an operator compares with values. */
export function needsValues(operator: LabelOperator): boolean {
  return operator === "In" || operator === "NotIn";
}

/** Whether a requirement has values exactly if its operator needs values. */
export function hasFittingValues({ operator, values = [] }: Pick<LabelRequirement, "operator" | "values">): boolean {
  return needsValues(operator) === values.length > 0;
}

/**
 * Whether labels meet all conditions. A label that is absent is not in any list of values, as in the orchestrator.
 *
 * @param valueOf Reads a label by its name, in whatever spelling. Undefined: there is no such label.
 */
export function meetsConditions(
  { matchLabels = {}, matchExpressions = [] }: LabelConditions,
  valueOf: (key: string) => string | undefined,
): boolean {
  return Object.entries(matchLabels).every(([key, value]) => valueOf(key) === value) &&
    matchExpressions.every((requirement) => meets(requirement, valueOf(requirement.key)));
}

function meets({ operator, values = [] }: LabelRequirement, value: string | undefined): boolean {
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
