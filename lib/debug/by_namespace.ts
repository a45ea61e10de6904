/**
 * Objects of a single kind by namespace, in the form of Istio's pages.
 *
 * @module
 */
import type { ConfigObject, Kind } from "../config/types.ts";
import { LazyList, LazyObject } from "../http/json_stream.ts";
import { oldest } from "../mesh/selection/index.ts";

/**
 * The objects by namespace, the oldest first, and the name of the root namespace.
 *
 * @param field The name of the field with the objects.
 */
export function objectsByNamespace<K extends Kind>(
  field: string,
  objects: readonly ConfigObject<K>[],
  rootNamespace: string,
): LazyObject {
  const namespaces = Map.groupBy([...objects].sort(oldest), ({ meta }) => meta.namespace);
  const sorted = [...namespaces].sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = sorted.map(([namespace, list]) => [namespace, LazyList.of(list, shownObject)] as const);
  return new LazyObject([[field, new LazyObject(shown)], ["root_namespace", rootNamespace]]);
}

function shownObject({ meta: { name, namespace, annotations }, spec }: ConfigObject) {
  return { name, namespace, annotations, spec };
}
