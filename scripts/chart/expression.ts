/**
 * Places for values as expressions of Helm's template language.
 *
 * @module
 */
import {
  Conditional,
  isFields,
  Joined,
  MergedNode,
  type Node,
  Noted,
  Ref,
  type ValueCondition,
  type ValuePlace,
  YamlText,
} from "../../lib/install/template/node.ts";

/** Where a template finds a value: https://helm.sh/docs/chart_template_guide/builtin_objects/ */
export function placeText({ of, path }: ValuePlace): string {
  if (of !== "values") return path === "" ? `$${of}` : `$${of}.${path}`;
  // A release is in one namespace. Helm has a flag for the name.
  return path === "namespace" ? "$.Release.Namespace" : `$.Values.${path}`;
}

/** A condition as an operand. */
export function conditionText(condition: ValueCondition): string {
  if ("filled" in condition) return placeText(condition.filled);
  if ("is" in condition) return `(eq ${placeText(condition.is)} ${goText(condition.text)})`;
  if ("not" in condition) return `(not ${conditionText(condition.not)})`;
  const [name, parts] = "all" in condition ? ["and", condition.all] : ["or", condition.any];
  return `(${[name, ...parts.map(conditionText)].join(" ")})`;
}

/** A node as an operand. @throws {Error} for lists with conditions or with items of a value */
export function operand(node: Node): string {
  if (typeof node === "string") return goText(node);
  if (typeof node === "number" || typeof node === "boolean") return String(node);
  if (node instanceof Ref) return placeText(node);
  if (node instanceof Noted) return operand(node.node);
  if (node instanceof YamlText) return `(toYaml ${operand(node.node)})`;
  if (node instanceof Joined) return joined(node.parts);
  if (node instanceof Conditional) return choice(node);
  if (node instanceof MergedNode) {
    const parts = node.parts.flatMap(withoutConditions);
    return `(mergeOverwrite (dict) ${parts.map((part) => `(deepCopy ${operand(part)})`).join(" ")})`;
  }
  if (Array.isArray(node)) return `(${["list", ...node.map(operand)].join(" ")})`;
  if (!isFields(node)) throw new Error("a list of values stands outside a list");
  return `(${["dict", ...Object.entries(node).flatMap(([key, value]) => [goText(key), operand(value)])].join(" ")})`;
}

/** An operand or a condition without its outer brackets. */
export function bare(text: string): string {
  return text.startsWith("(") ? text.slice(1, -1) : text;
}

/** Whether a node is a text, number or truth value, or a value of the installation. */
export function isScalar(node: Node): boolean {
  if (node instanceof Noted) return false;
  if (node instanceof Conditional) {
    return node.otherwise !== undefined && isScalar(node.then) && isScalar(node.otherwise);
  }
  return typeof node !== "object" || node instanceof Joined;
}

/** An object whose optional fields are objects of their own, which are empty where the field is absent. */
function withoutConditions(part: Node): readonly Node[] {
  if (!isFields(part)) return [part];
  const fields = Object.entries(part);
  const isOptional = (node: Node) => node instanceof Conditional && node.otherwise === undefined;
  const optional = fields.flatMap(([key, node]) =>
    node instanceof Conditional && isOptional(node) ? [new Conditional(node.condition, { [key]: node.then }, {})] : []
  );
  return [Object.fromEntries(fields.filter(([, node]) => !isOptional(node))), ...optional];
}

function joined(parts: readonly Node[]): string {
  const format = parts.map((part) => typeof part === "string" ? part.replaceAll("%", "%%") : "%v").join("");
  const places = parts.filter((part) => typeof part !== "string").map((part) =>
    part instanceof Conditional && part.otherwise === undefined
      ? choice(new Conditional(part.condition, part.then, ""))
      : operand(part)
  );
  return `(${["printf", goText(format), ...places].join(" ")})`;
}

function choice(node: Conditional): string {
  const base = revisedName(node);
  if (base !== undefined) return `(include "mesh.revised" (list ${goText(base)} $))`;
  if (node.otherwise === undefined) throw new Error("a template has no form for an optional part here");
  return `(ternary ${operand(node.then)} ${operand(node.otherwise)} ${truth(node.condition)})`;
}

/** `ternary` takes only truth values. */
function truth(condition: ValueCondition): string {
  return "filled" in condition ? `(not (not ${conditionText(condition)}))` : conditionText(condition);
}

/** The name before the revision of a node made by `revised`. */
function revisedName({ condition, then, otherwise }: Conditional): string | undefined {
  if (!("is" in condition) || condition.is.path !== "revision" || condition.text !== "default") return undefined;
  if (typeof then !== "string" || !(otherwise instanceof Joined)) return undefined;
  const [name, dash, place, ...rest] = otherwise.parts;
  const endsWithRevision = dash === "-" && place instanceof Ref && place.path === "revision" && rest.length === 0;
  return name === then && endsWithRevision ? then : undefined;
}

/** A text of the template language. */
function goText(text: string): string {
  return JSON.stringify(text);
}
