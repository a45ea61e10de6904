/**
 * The annotations of a control plane on a WorkloadEntry made for a proxy: Istio's annotations, in our spelling.
 *
 * @module
 */

/** Names of the annotations. */
export const REGISTRATION = {
  /** Name of the entry's WorkloadGroup; an entry without the annotation belongs to its author. */
  group: "mesh.io/autoRegistrationGroup",
  /** The proxy's present or last server. */
  controller: "mesh.io/workloadController",
  /** Beginning of the connection, RFC 3339; absent: not connected. */
  connectedAt: "mesh.io/connectedAt",
  /** End of the connection, RFC 3339; absent: connected. */
  disconnectedAt: "mesh.io/disconnectedAt",
} as const;

/** Annotations that change with each connection of a proxy, and that translation does not read. */
export const CONNECTION_ANNOTATIONS: ReadonlySet<string> = new Set([
  REGISTRATION.controller,
  REGISTRATION.connectedAt,
  REGISTRATION.disconnectedAt,
]);

/**
 * On a WorkloadEntry: an agent probes the workload, and the entry counts as unhealthy until the agent reports health.
 */
export const HEALTH_CHECKED = "proxy.mesh.io/health-checks-enabled";
