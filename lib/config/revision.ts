/**
 * Revisions: the label by which an object of configuration is for one of several control planes that share a cluster.
 *
 * @module
 */

const REVISION_LABEL = "mesh.io/rev";

/**
 * Whether an object with these labels (in our spelling) is for a revision of the control plane. One without the label
 * is for all of them.
 *
 * @param revision `REVISION`; empty: this one takes the objects of all revisions.
 */
export function isOfRevision(labels: Readonly<Record<string, string>>, revision: string): boolean {
  const wanted = labels[REVISION_LABEL];
  return revision === "" || wanted === undefined || wanted === revision;
}
