/**
 * A waypoint as an object for `kubectl apply`: a Gateway whose class the servers deploy.
 *
 * @module
 */
import { Commented, type Resolved } from "../template/resolved.ts";

/** The questions about a waypoint. */
export interface WaypointRequest {
  readonly name: string;
  /** Empty: the namespace in which `kubectl` applies the object. */
  readonly namespace: string;
  /** The traffic of the waypoint; empty: that of the class, which is `service`. */
  readonly traffic: string;
  /** The namespaces whose objects may use the waypoint. */
  readonly from: "Same" | "All";
  /** The revision that deploys the waypoint; empty: the default revision. */
  readonly revision: string;
  /** All services of the namespace use the waypoint, unless a service says otherwise. */
  readonly enrolsNamespace: boolean;
}

/** Labels of the Gateway. */
function labelsOf({ traffic, revision }: WaypointRequest): { readonly [key: string]: string } {
  return {
    ...traffic === "" ? {} : { "mesh.io/waypoint-for": traffic },
    ...revision === "" ? {} : { "mesh.io/rev": revision },
  };
}

/** The Gateway, and the label of its namespace if that is asked for. */
export function waypointObjects(request: WaypointRequest): readonly Resolved[] {
  const { name, namespace, from, enrolsNamespace } = request;
  const labels = labelsOf(request);
  const gateway: Resolved = {
    ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway" },
    metadata: {
      name,
      ...namespace === "" ? {} : { namespace },
      ...Object.keys(labels).length === 0 ? {} : { labels },
    },
    spec: {
      gatewayClassName: "mesh-waypoint",
      listeners: [{
        ...{ name: "mesh", port: 15008, protocol: "HBONE" },
        ...from === "Same" ? {} : { allowedRoutes: { namespaces: { from } } },
      }],
    },
  };
  if (!enrolsNamespace) return [gateway];
  const marked: Resolved = {
    ...{ apiVersion: "v1", kind: "Namespace" },
    metadata: { name: namespace, labels: { "mesh.io/use-waypoint": name } },
  };
  return [
    gateway,
    new Commented(
      "All services of the namespace use the waypoint. Server-side apply leaves other labels alone.",
      marked,
    ),
  ];
}
