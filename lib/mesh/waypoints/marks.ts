/**
 * Labels and annotations of ambient mode, in our spelling.
 *
 * @module
 */
import { type Labels, MANAGED_LABEL } from "../../registry/labels.ts";

/** Label of a service, a workload or a namespace: the name of its waypoint; `none`: no waypoint. */
export const USE_WAYPOINT = "mesh.io/use-waypoint";
/** Label beside {@linkcode USE_WAYPOINT}: the waypoint's namespace, if it is another one. */
export const USE_WAYPOINT_NAMESPACE = "mesh.io/use-waypoint-namespace";
/** Label of a service or a namespace, `true`: gateways send requests to the service through its waypoint. */
const INGRESS_USE_WAYPOINT = "mesh.io/ingress-use-waypoint";
/** Label of a Gateway or GatewayClass: the traffic of its waypoints. */
export const WAYPOINT_FOR = "mesh.io/waypoint-for";
/** Annotation of a Gateway or GatewayClass: how a waypoint's own workloads take connections, `PROXY/15088`. */
export const INBOUND_BINDING = "ambient.mesh.io/waypoint-inbound-binding";

/** Controllers of waypoints, in the spelling of either project. */
const WAYPOINT_CONTROLLERS: ReadonlySet<string> = new Set(["mesh.io-mesh-controller", "istio.io-mesh-controller"]);

/** Whether labels are those of a waypoint, of its Service or its pods. */
export function isWaypointPart(labels: Labels): boolean {
  return WAYPOINT_CONTROLLERS.has(labels[MANAGED_LABEL] ?? "");
}

/** Whether gateways shall use the waypoint of a service. The service's own label wins over the label of its namespace. */
export function asksGateways(labels: Labels, ofNamespace: Labels): boolean {
  return (labels[INGRESS_USE_WAYPOINT] ?? ofNamespace[INGRESS_USE_WAYPOINT])?.toLowerCase() === "true";
}
