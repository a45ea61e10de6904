/**
 * `null` in foreign JSON and YAML: a field with the value `null` counts as absent. Go's JSON does the same, Helm charts
 * remove a default by `null`, and YAML reads a key without a value as `null`.
 *
 * @module
 */

/** A tree without null fields, at any depth. Null elements of lists stay, because the positions count. */
export function withoutNullFields(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(withoutNullFields);
  if (typeof tree !== "object" || tree === null) return tree;
  const kept = Object.entries(tree).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutNullFields(value)]));
}
