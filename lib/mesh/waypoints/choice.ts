/**
 * The waypoint that labels ask for, and the terms on which a Gateway is a waypoint.
 *
 * @module
 */
import type { NamespaceSelector } from "../../config/kinds/gateway_api/common.ts";
import { meetsLabelSelector } from "../../config/mesh/label_selector.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { Labels } from "../../registry/labels.ts";
import { INBOUND_BINDING, USE_WAYPOINT, USE_WAYPOINT_NAMESPACE, WAYPOINT_FOR } from "./marks.ts";

/** The port of HBONE in the listener of a waypoint's Gateway. */
const HBONE_PORT = 15008;

/** Who may use a waypoint, and for which traffic. */
export interface WaypointTerms {
  readonly namespace: string;
  /** `service` (the default), `workload`, `all`, `none`. */
  readonly traffic: string;
  /** The namespaces whose objects may use the waypoint. */
  readonly allows: { readonly from: "All" | "Same" | "Selector"; readonly selector?: NamespaceSelector };
}

/** How the workloads of a waypoint take connections. */
export interface InboundBinding {
  /** Connections come with a PROXY header. */
  readonly proxied: boolean;
  readonly port: number;
}

/** The parts of a GatewayClass that count for its waypoints. */
export type WaypointClass = Pick<ConfigObject["meta"], "labels" | "annotations">;

/**
 * The waypoint `namespace/name` that labels ask for; undefined: none. The object's own label wins over the label of its
 * namespace.
 */
export function askedWaypoint(
  { namespace, labels }: { readonly namespace: string; readonly labels: Labels },
  ofNamespace: Labels,
): string | undefined {
  const asking = labels[USE_WAYPOINT] ? labels : ofNamespace;
  const name = asking[USE_WAYPOINT];
  if (!name || name === "none") return undefined;
  return `${asking[USE_WAYPOINT_NAMESPACE] || namespace}/${name}`;
}

/** `PROXY/15088` on the Gateway or its class. Undefined: none, or another text. */
export function inboundBinding(
  { meta }: ConfigObject<"ApiGateway">,
  ofClass: WaypointClass | undefined,
): InboundBinding | undefined {
  const text = meta.annotations[INBOUND_BINDING] ?? ofClass?.annotations[INBOUND_BINDING];
  const found = /^(PROXY|NONE)(?:\/(\d{1,5}))?$/.exec(text ?? "");
  if (found === null) return undefined;
  const port = Number(found[2] ?? 0);
  return port > 65535 ? undefined : { proxied: found[1] === "PROXY", port };
}

/** The terms of a Gateway of any class. */
export function waypointTerms(
  gateway: ConfigObject<"ApiGateway">,
  ofClass: WaypointClass | undefined,
): WaypointTerms {
  const { meta, spec: { listeners } } = gateway;
  const bound = inboundBinding(gateway, ofClass)?.port;
  const listener = listeners.find(({ port }) => port === bound) ??
    listeners.find(({ protocol, port }) => protocol === "HBONE" && port === HBONE_PORT);
  const namespaces = listener?.allowedRoutes?.namespaces;
  return {
    namespace: meta.namespace,
    traffic: meta.labels[WAYPOINT_FOR] || ofClass?.labels[WAYPOINT_FOR] || "service",
    allows: {
      from: namespaces?.from ?? "Same",
      ...namespaces?.selector === undefined ? {} : { selector: namespaces.selector },
    },
  };
}

/** Whether the objects of a namespace may use a waypoint. @param labels Labels of the namespace. */
export function admitsNamespace(
  { namespace, allows: { from, selector } }: WaypointTerms,
  ofUser: string,
  labels: Labels,
): boolean {
  if (from === "All") return true;
  return from === "Same" ? namespace === ofUser : selector !== undefined && meetsLabelSelector(selector, labels);
}

/** Whether a waypoint is for the traffic of a sort of objects. */
export function isForTraffic({ traffic }: WaypointTerms, sort: "service" | "workload"): boolean {
  return traffic === "all" || traffic === sort;
}
