/**
 * Revisions: a label assigns an object of configuration to one of several control planes in a cluster.
 *
 * @module
 */

const REVISION_LABEL = "mesh.io/rev";

/**
 * Whether an object with these labels (in our spelling) is for a revision of the control plane. An object without the
 * label is for all revisions.
 *
 * @param revision `REVISION`; empty: this control plane takes the objects of all revisions.
 */
export function isOfRevision(labels: Readonly<Record<string, string>>, revision: string): boolean {
  const wanted = labels[REVISION_LABEL];
  return revision === "" || wanted === undefined || wanted === revision;
}
