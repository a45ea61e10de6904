/**
 * The name of a cluster that nobody has named: this project's programs say `Orch`, those of the field `Kubernetes`. Each of
 * the two is the other, so that agents and files of the field fit a server without a flag.
 *
 * @module
 */

const OURS = "Orch";
const THEIRS = "Kubernetes";

/** One spelling for both default names, for comparisons; any other name is itself. */
export function ownClusterName(name: string): string {
  return name === THEIRS ? OURS : name;
}

/** Whether two names mean one cluster. */
export function isSameCluster(a: string, b: string): boolean {
  return a === b || ownClusterName(a) === ownClusterName(b);
}
