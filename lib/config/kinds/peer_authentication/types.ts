/**
 * PeerAuthentication: which transport security a workload accepts.
 *
 * @module
 */
import type { WorkloadSelector } from "../common/types.ts";

/** Spec of a PeerAuthentication. */
export interface PeerAuthenticationSpec {
  /** Workloads of the namespace that it is for; absent: all of them, in the root namespace those of the mesh. */
  readonly selector?: WorkloadSelector;
  /** Mode of all ports. */
  readonly mtls?: MutualTls;
  /** Port number (as a string key) to its mode; needs a selector. */
  readonly portLevelMtls?: Readonly<Record<string, MutualTls>>;
}

/** Mode of mutual TLS. */
export type MutualTlsMode = "UNSET" | "DISABLE" | "PERMISSIVE" | "STRICT";

/** Mutual TLS settings. */
export interface MutualTls {
  /** Default UNSET: inherited. */
  readonly mode: MutualTlsMode;
}
