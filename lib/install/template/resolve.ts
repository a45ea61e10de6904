/**
 * Fills values into the installation's objects.
 *
 * @module
 */
import {
  Conditional,
  Each,
  type InstallData,
  isFields,
  Joined,
  MergedNode,
  type Node,
  Noted,
  Ref,
  Spread,
  type ValueCondition,
  type ValuePlace,
  YamlText,
} from "./node.ts";
import { Commented, type Resolved, withoutComments } from "./resolved.ts";
import { yamlText } from "./text.ts";

/**
 * What a place can refer to: the values of the installation under `values`, and the items of enclosing lists under
 * their names.
 */
type ValueScope = Readonly<Record<string, Readonly<Record<string, InstallData>>>>;

/**
 * Fills values into nodes.
 *
 * @param values Values by path.
 * @returns Without the nodes whose condition does not hold.
 */
export function resolveNodes(
  nodes: readonly Node[],
  values: Readonly<Record<string, InstallData>>,
): readonly Resolved[] {
  return itemsOf(nodes, { values });
}

/** A node with values; undefined: the node is left out. */
function resolve(node: Node, scope: ValueScope): Resolved | undefined {
  if (node instanceof Ref) return valueAt(node, scope);
  if (node instanceof Joined) return node.parts.map((part) => String(resolve(part, scope) ?? "")).join("");
  if (node instanceof Conditional) {
    const branch = holds(node.condition, scope) ? node.then : node.otherwise;
    return branch === undefined ? undefined : resolve(branch, scope);
  }
  if (node instanceof Noted) {
    const data = resolve(node.node, scope);
    return data === undefined ? undefined : new Commented(node.text, data);
  }
  if (node instanceof YamlText) return yamlText(resolve(node.node, scope) ?? {});
  if (node instanceof MergedNode) {
    return node.parts.map((part) => withoutComments(resolve(part, scope) ?? {})).reduce(mergedJson);
  }
  if (node instanceof Each || node instanceof Spread) throw new Error("a list of values stands outside a list");
  if (Array.isArray(node)) return itemsOf(node, scope);
  if (!isFields(node)) return node as InstallData;
  const fields = Object.entries(node).flatMap(([key, value]) => {
    const data = resolve(value, scope);
    return data === undefined ? [] : [[key, data]];
  });
  return Object.fromEntries(fields);
}

function itemsOf(nodes: readonly Node[], scope: ValueScope): readonly Resolved[] {
  return nodes.flatMap((node): readonly Resolved[] => {
    if (node instanceof Each) {
      const items = valueAt(node.list, scope) as readonly InstallData[];
      return items.flatMap((item) =>
        itemsOf(node.body, { ...scope, [node.as]: isJsonObject(item) ? item : { "": item } })
      );
    }
    if (node instanceof Spread) return valueAt(node.list, scope) as readonly InstallData[];
    const data = resolve(node, scope);
    return data === undefined ? [] : [data];
  });
}

function valueAt({ of, path }: ValuePlace, scope: ValueScope): InstallData {
  const value = scope[of]?.[path];
  if (value === undefined) throw new Error(`there is no value ${of}.${path}`);
  return value;
}

function holds(condition: ValueCondition, scope: ValueScope): boolean {
  if ("filled" in condition) return isFilled(valueAt(condition.filled, scope));
  if ("is" in condition) return valueAt(condition.is, scope) === condition.text;
  if ("not" in condition) return !holds(condition.not, scope);
  if ("all" in condition) return condition.all.every((one) => holds(one, scope));
  return condition.any.some((one) => holds(one, scope));
}

/** Helm's rule for a condition on a value. */
function isFilled(value: InstallData): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

function mergedJson(base: InstallData, over: InstallData): InstallData {
  if (!isJsonObject(base) || !isJsonObject(over)) return over;
  const fields = Object.entries(over).map(([key, value]) => {
    const before = base[key];
    return [key, before === undefined ? value : mergedJson(before, value)];
  });
  return { ...base, ...Object.fromEntries(fields) };
}

function isJsonObject(value: InstallData): value is { readonly [key: string]: InstallData } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
