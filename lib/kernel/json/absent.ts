/**
 * `null` in foreign JSON and YAML: a field that holds it is as if it were not written. Go's JSON reads it so, charts drop
 * a default by it, and YAML has it where nothing stands behind a key.
 *
 * @module
 */

/** The tree without fields that are null, at any depth. Elements of lists stay: their places count. */
export function withoutNullFields(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(withoutNullFields);
  if (typeof tree !== "object" || tree === null) return tree;
  const kept = Object.entries(tree).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutNullFields(value)]));
}
