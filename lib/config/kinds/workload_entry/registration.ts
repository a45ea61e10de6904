/**
 * The annotations that a control plane writes on a WorkloadEntry that it made for a proxy: Istio's, in our spelling.
 *
 * @module
 */

/** Names of the annotations. */
export const REGISTRATION = {
  /** Name of the WorkloadGroup that the entry was made from; an entry without it is its author's. */
  group: "mesh.io/autoRegistrationGroup",
  /** The server that the proxy is connected to, or was last. */
  controller: "mesh.io/workloadController",
  /** Since when it is connected, RFC 3339; absent: it is not. */
  connectedAt: "mesh.io/connectedAt",
  /** When it left, RFC 3339; absent: it is connected. */
  disconnectedAt: "mesh.io/disconnectedAt",
} as const;

/** Annotations that change with each connection of a proxy, and say nothing that translation reads. */
export const CONNECTION_ANNOTATIONS: ReadonlySet<string> = new Set([
  REGISTRATION.controller,
  REGISTRATION.connectedAt,
  REGISTRATION.disconnectedAt,
]);

/** On a WorkloadEntry: its agent probes it; it counts as unhealthy until the agent reports it healthy. */
export const HEALTH_CHECKED = "proxy.mesh.io/health-checks-enabled";
