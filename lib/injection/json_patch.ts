/**
 * The difference of two trees as a JSON patch for the orchestrator's API (RFC 6902).
 *
 * Elements of lists in a pod have names (containers, volumes, variables), so elements of equal names are compared.
 * Lists without names, and lists whose order changed, are replaced as a whole. The time is linear in the size of the
 * trees.
 *
 * @module
 */

export type JsonPatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

/**
 * The operations for turning one JSON tree into another; none: the trees are equal. Undefined fields count as absent.
 */
export function jsonPatch(from: unknown, to: unknown): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  compare("", from, to, operations);
  return operations;
}

type PodTree = Readonly<Record<string, unknown>>;

function compare(path: string, from: unknown, to: unknown, operations: JsonPatchOperation[]): void {
  if (from === to) return;
  if (isPodTree(from) && isPodTree(to)) return compareObjects(path, from, to, operations);
  if (Array.isArray(from) && Array.isArray(to)) return compareLists(path, from, to, operations);
  operations.push({ op: "replace", path, value: to });
}

function compareObjects(path: string, from: PodTree, to: PodTree, operations: JsonPatchOperation[]): void {
  for (const key of Object.keys(from)) {
    if (valueOf(to, key) === undefined) operations.push({ op: "remove", path: below(path, key) });
  }
  for (const [key, value] of Object.entries(to)) {
    if (value === undefined) continue;
    if (Object.hasOwn(from, key)) compare(below(path, key), from[key], value, operations);
    else operations.push({ op: "add", path: below(path, key), value });
  }
}

function compareLists(
  path: string,
  from: readonly unknown[],
  to: readonly unknown[],
  operations: JsonPatchOperation[],
): void {
  const before = byName(from), after = byName(to);
  if (before === undefined || after === undefined || !keepsOrder(before, after)) {
    if (!isEqual(from, to)) operations.push({ op: "replace", path, value: to });
    return;
  }
  const names = [...before.keys()];
  // From the end, so that the indexes of earlier elements stay.
  for (let index = names.length - 1; index >= 0; index--) {
    if (!after.has(names[index]!)) operations.push({ op: "remove", path: `${path}/${index}` });
  }
  [...after].forEach(([name, value], index) => {
    if (before.has(name)) compare(`${path}/${index}`, before.get(name), value, operations);
    else operations.push({ op: "add", path: `${path}/${index}`, value });
  });
}

/** Elements by name, in order; undefined: some element has no name of its own. */
function byName(list: readonly unknown[]): ReadonlyMap<string, unknown> | undefined {
  const named = new Map<string, unknown>();
  for (const element of list) {
    const name = isPodTree(element) ? valueOf(element, "name") : undefined;
    if (typeof name !== "string" || named.has(name)) return undefined;
    named.set(name, element);
  }
  return named;
}

/** Whether the names in both maps have the same order. */
function keepsOrder(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): boolean {
  const kept = [...before.keys()].filter((name) => after.has(name));
  return [...after.keys()].filter((name) => before.has(name)).every((name, index) => name === kept[index]);
}

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((element, index) => isEqual(element, b[index]));
  }
  if (!isPodTree(a) || !isPodTree(b)) return false;
  const keysOf = (tree: PodTree) => Object.keys(tree).filter((key) => tree[key] !== undefined);
  const keys = keysOf(a);
  return keys.length === keysOf(b).length && keys.every((key) => isEqual(a[key], valueOf(b, key)));
}

function isPodTree(value: unknown): value is PodTree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Keys are users' texts: `constructor` must not find an inherited member. */
function valueOf(tree: PodTree, key: string): unknown {
  return Object.hasOwn(tree, key) ? tree[key] : undefined;
}

/** A path extended by a key (RFC 6901). */
function below(path: string, key: string): string {
  return `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
