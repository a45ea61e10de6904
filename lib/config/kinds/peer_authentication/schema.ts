/**
 * PeerAuthentication: the transport security that a workload accepts.
 *
 * @module
 */
import { map } from "../../schema/containers.ts";
import { keepZero, withDefault } from "../../schema/field.ts";
import { message, type Of } from "../../schema/message.ts";
import { enumOf } from "../../schema/scalars.ts";
import { workloadSelector } from "../common/schema.ts";

const mutualTls = message({
  /** Default UNSET: inherited. */
  mode: withDefault(enumOf("UNSET", "DISABLE", "PERMISSIVE", "STRICT"), "UNSET"),
});

/** Mutual TLS settings. */
export interface MutualTls extends Of<typeof mutualTls> {}

export const peerAuthentication = message({
  /**
   * Workloads of the policy in its namespace; absent: all workloads, in the root namespace all workloads of the mesh.
   */
  selector: workloadSelector,
  /** Mode of all ports. */
  mtls: mutualTls,
  // A written but empty map is a mistake here, so the map is kept for validation.
  /** Port number (as a string key) to the port's mode; needs a selector. */
  portLevelMtls: keepZero(map(mutualTls)),
});

/** Spec of a PeerAuthentication. */
export interface PeerAuthenticationSpec extends Of<typeof peerAuthentication> {}

/** Mode of mutual TLS. */
export type MutualTlsMode = MutualTls["mode"];
