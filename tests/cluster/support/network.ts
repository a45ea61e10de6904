/**
 * Addresses of a cluster of tests. Each cluster has its own network namespaces, so clusters that never meet may share
 * addresses. Clusters that meet take different numbers.
 *
 * @module
 */

/** The addresses of a cluster. */
export interface ClusterNetwork {
  /** Address of the API server and router of the nodes. */
  readonly control: string;
  /** Addresses of Services, as a CIDR. */
  readonly services: string;
  /** Address of the Service of the API server. */
  readonly apiService: string;
  /** Address of the Service of the DNS server. */
  readonly dnsService: string;
  /** Addresses of all pods, as a CIDR. */
  readonly pods: string;
  /** Addresses of load balancers, as a CIDR. */
  readonly balancers: string;
  /** The n-th address of a load balancer, from 1. */
  balancer(n: number): string;
  /** Address of the n-th node, from 1. */
  node(n: number): string;
  /** Addresses of the pods of the n-th node, as a CIDR. */
  podsOf(n: number): string;
}

/** @param cluster Number of the cluster, 0 to 7. */
export function clusterNetwork(cluster: number): ClusterNetwork {
  const [nodes, pods, services] = [`10.${70 + cluster}`, `10.${80 + cluster}`, `10.${90 + cluster}`];
  return {
    control: `${nodes}.0.1`,
    services: `${services}.0.0/16`,
    apiService: `${services}.0.1`,
    dnsService: `${services}.0.10`,
    pods: `${pods}.0.0/16`,
    balancers: `${nodes}.1.0/24`,
    balancer: (n) => `${nodes}.1.${n}`,
    node: (n) => `${nodes}.0.${10 + n}`,
    podsOf: (n) => `${pods}.${n}.0/24`,
  };
}
