/**
 * The effect of changed objects on the policies of node tunnels.
 *
 * @module
 */

/** What is to be computed again. */
export interface TunnelPolicyChange {
  /** Names of policies that are new, changed or removed. */
  readonly names: ReadonlySet<string>;
  /** Namespaces of workloads whose list of names may have changed. `*`: all. */
  readonly namespaces: ReadonlySet<string>;
}

/** The name of a policy at tunnels. */
export function tunnelPolicyName({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
