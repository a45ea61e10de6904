/**
 * Revisions: a label assigns an object of configuration to one of several control planes in a cluster.
 *
 * @module
 */
import type { Kind, ObjectMeta } from "./types.ts";

const REVISION_LABEL = "mesh.io/rev";

/**
 * Kinds that every revision reads: the label on such an object says which revision writes the status and the deployment
 * of the gateway, and may name a tag.
 */
const OF_EVERY_REVISION: ReadonlySet<string> = new Set<Kind>(["ApiGateway", "ListenerSet"]);

/**
 * Whether a revision of the control plane reads an object. An object without the label is for all revisions.
 *
 * @param revision `REVISION`; empty: this control plane takes the objects of all revisions.
 */
export function isOfRevision(
  { kind, meta: { labels } }: { readonly kind: string; readonly meta: Pick<ObjectMeta, "labels"> },
  revision: string,
): boolean {
  if (OF_EVERY_REVISION.has(kind)) return true;
  const wanted = labels[REVISION_LABEL];
  return revision === "" || wanted === undefined || wanted === revision;
}
