/**
 * The rules of `exportTo`, which decide about the visibility of an object.
 *
 * @module
 */

/** The export of an object, once the mesh-wide default was applied. */
export interface Exported {
  readonly namespace: string;
  /** `*` (all), `.` (own namespace), `~` (none), or namespaces. Empty counts as `*`. */
  readonly exportTo: readonly string[];
}

/**
 * The visibility of an object in a namespace: 0 private, 1 exported by name, 2 exported to all. The smallest rank wins.
 * -1: not visible.
 */
export function visibilityRank(object: Exported, namespace: string): -1 | 0 | 1 | 2 {
  const { exportTo } = object;
  if (exportTo.length === 0 || exportTo.includes("*")) return 2;
  const own = object.namespace === namespace;
  if (own && (exportTo.includes(".") || exportTo.includes(namespace))) return 0;
  return exportTo.includes(namespace) ? 1 : -1;
}

/** Whether a namespace sees the object. */
export function isVisible(object: Exported, namespace: string): boolean {
  return visibilityRank(object, namespace) >= 0;
}

/** Whether every namespace sees the object in the same way. */
export function isPublic({ exportTo }: Exported): boolean {
  return exportTo.length === 0 || exportTo.includes("*");
}

/** The namespaces in `exportTo`. Only these namespaces see an object that is not public. */
export function namespacesNamed({ namespace, exportTo }: Exported): string[] {
  return exportTo.filter((to) => to !== "*" && to !== "~").map((to) => to === "." ? namespace : to);
}
