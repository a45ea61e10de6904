/**
 * The default name of a cluster: `Orch` in this project's programs, `Kubernetes` in Istio's. Both names are equal here,
 * so that Istio's agents and files fit a server without a flag.
 *
 * @module
 */

const OURS = "Orch";
const THEIRS = "Kubernetes";

/** One spelling for both default names, for comparisons; other names are unchanged. */
export function ownClusterName(name: string): string {
  return name === THEIRS ? OURS : name;
}

/** Whether two names mean the same cluster. */
export function isSameCluster(a: string, b: string): boolean {
  return a === b || ownClusterName(a) === ownClusterName(b);
}
