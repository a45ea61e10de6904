/**
 * The rules of `exportTo`, which decide the namespaces that see an object.
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
 * How an object is visible to a namespace: 0 private to it, 1 exported to it by name, 2 exported to all; the smaller
 * wins where several apply. -1: not visible.
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

/** The namespaces that `exportTo` names. Only these see an object that is not public. */
export function namespacesNamed({ namespace, exportTo }: Exported): string[] {
  return exportTo.filter((to) => to !== "*" && to !== "~").map((to) => to === "." ? namespace : to);
}
