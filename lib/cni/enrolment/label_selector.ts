/**
 * Selectors of labels in the orchestrator's form. Pure, and light: the plugin reads selectors too.
 *
 * @module
 */
import { LABEL_OPERATORS, type LabelConditions, meetsConditions, needsValues } from "../../kernel/labels/selector.ts";

/** A selector of pods. Both parts must hold. A part left out holds for everything. */
export interface EnablementSelector {
  readonly podSelector?: LabelConditions;
  readonly namespaceSelector?: LabelConditions;
}

/** Whether labels meet a selector. */
export function selectorMatches(
  selector: LabelConditions | undefined,
  labels: Readonly<Record<string, string>>,
): boolean {
  return meetsConditions(selector ?? {}, (key) => labelOf(labels, key));
}

/** A label's value by its name in either spelling, `mesh.io` first. */
function labelOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return spellings(key).map((name) => Object.hasOwn(labels, name) ? labels[name] : undefined)
    .find((value) => value !== undefined);
}

/** A name below `mesh.io` or `istio.io` in both spellings. */
export function spellings(key: string): string[] {
  const [, domain, rest] = /^((?:[^/]+\.)?)(?:mesh|istio)\.io\/(.*)$/.exec(key) ?? [];
  return domain === undefined ? [key] : [`${domain}mesh.io/${rest}`, `${domain}istio.io/${rest}`];
}

/** The mistakes of a list of {@link EnablementSelector}, a line each: field, value, expectation. */
export function selectorProblems(value: unknown): string[] {
  const problems: string[] = [];
  const refuse = (at: string, found: unknown, expected: string) =>
    problems.push(`${at || "the list"}: got ${shown(found)}, expected ${expected}`);
  if (!Array.isArray(value)) {
    refuse("", value, "a list of selectors");
    return problems;
  }
  value.forEach((one: unknown, i) => {
    if (!isTable(one)) return refuse(`[${i}]`, one, "podSelector and namespaceSelector");
    for (const [key, selector] of Object.entries(one)) {
      if (key === "podSelector" || key === "namespaceSelector") checkSelector(`[${i}].${key}`, selector, refuse);
      else refuse(`[${i}].${key}`, selector, "no such field: podSelector or namespaceSelector");
    }
  });
  return problems;
}

type Refuse = (at: string, found: unknown, expected: string) => void;

function checkSelector(at: string, selector: unknown, refuse: Refuse): void {
  if (!isTable(selector)) return refuse(at, selector, "matchLabels and matchExpressions");
  for (const [key, value] of Object.entries(selector)) {
    if (key === "matchLabels") {
      if (!isTable(value) || !Object.values(value).every(isText)) refuse(`${at}.${key}`, value, "texts by label");
    } else if (key === "matchExpressions") {
      if (!Array.isArray(value)) refuse(`${at}.${key}`, value, "a list of expressions");
      else value.forEach((one: unknown, i) => checkExpression(`${at}.${key}[${i}]`, one, refuse));
    } else refuse(`${at}.${key}`, value, "no such field: matchLabels or matchExpressions");
  }
}

function checkExpression(at: string, value: unknown, refuse: Refuse): void {
  if (!isTable(value)) return refuse(at, value, "key, operator and values");
  const { key, operator, values } = value;
  if (!isText(key) || key === "") refuse(`${at}.key`, key, "the name of a label");
  const known = LABEL_OPERATORS.find((one) => one === operator);
  if (known === undefined) refuse(`${at}.operator`, operator, `one of ${LABEL_OPERATORS.join(", ")}`);
  const isList = Array.isArray(values) && values.every(isText);
  if (values !== undefined && !isList) refuse(`${at}.values`, values, "a list of texts");
  else if (known !== undefined && needsValues(known) && (!isList || values.length === 0)) {
    refuse(`${at}.values`, values, "at least one text");
  }
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function shown(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value).slice(0, 100);
}
