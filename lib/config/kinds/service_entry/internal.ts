/**
 * Fields of a ServiceEntry that only derivations set. The schema of users' ServiceEntries refuses these fields.
 *
 * @module
 */

/** Fields of a whole ServiceEntry, which stands for an InferencePool or an XBackend. */
export interface InternalServiceEntry {
  /**
   * Ports of the workloads of an InferencePool, each once. Each port of each workload is an endpoint of the entry's only
   * port. Absent: the entry is no pool.
   */
  readonly targetPorts?: readonly number[];
  /**
   * Only routes lead to the hosts: clients in the mesh have no listener, no virtual host, no name and no address for the
   * hosts. Otherwise a TCP port would take all connections to the port's number.
   */
  readonly routesOnly?: true;
}

/** Suffix of the hosts of InferencePools. No ServiceEntry of a user has such a host. */
export const POOL_SUFFIX = ".inferencepool.internal";

/** Suffix of the hosts of XBackends. No ServiceEntry of a user has such a host. */
export const EXTERNAL_SUFFIX = ".xbackend.internal";
