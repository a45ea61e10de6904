/**
 * The waypoint of a service or workload: the Gateway that its labels, or the labels of its namespace, ask for.
 *
 * @module
 */
import type { istio } from "../../proto/gen/types.ts";
import type { ConfigObject } from "../config/types.ts";
import {
  admitsNamespace,
  askedWaypoint,
  inboundBinding,
  isForTraffic,
  type WaypointClass,
  type WaypointTerms,
  waypointTerms,
} from "../mesh/waypoints/choice.ts";
import { waypointAddress } from "../mesh/waypoints/address.ts";
import type { WaypointUser } from "../mesh/waypoints/policies.ts";
import type { Labels } from "../registry/labels.ts";
import { networkAddress } from "./addresses.ts";
import { takesTunnels } from "./waypoint_admission.ts";

type GatewayAddress = istio.workload.GatewayAddress;

/** The port of HBONE. */
const HBONE_PORT = 15008;

/** A Gateway as a waypoint. */
export interface Waypoint extends WaypointTerms {
  readonly className: string;
  readonly name: string;
  /** The first host name of the Gateway's status, else the first IP address; absent: the Gateway is not ready. */
  readonly address?: GatewayAddress;
  /** Whether the Gateway has an HBONE listener. */
  readonly takesTunnels: boolean;
  /** How the waypoint's own workloads take connections. */
  readonly inbound?: istio.workload.ApplicationTunnel;
}

/** Why a named waypoint is not used; the words of conditions. */
export type UnboundReason = "WaypointIsNotReady" | "AttachmentDenied" | "UnsupportedTrafficType";

/** The waypoint of an object. */
export type WaypointChoice =
  /** No label asks for a waypoint, or a label opts out. */
  | { readonly state: "none" }
  | { readonly state: "bound"; readonly waypoint: string; readonly address: GatewayAddress }
  | { readonly state: "unbound"; readonly waypoint: string; readonly reason: UnboundReason };

const NONE: WaypointChoice = { state: "none" };

/** A Gateway of any class as a waypoint. @param ofClass labels and annotations of the GatewayClass */
export function readWaypoint(
  gateway: ConfigObject<"ApiGateway">,
  ofClass: WaypointClass | undefined,
  network: string,
): Waypoint {
  const { meta, spec, status: written } = gateway;
  const address = gatewayAddressOf(written, meta.namespace, network);
  const bound = inboundBinding(gateway, ofClass);
  const inbound: istio.workload.ApplicationTunnel | undefined = bound &&
    { protocol: bound.proxied ? 1 : 0, port: bound.port };
  return {
    ...waypointTerms(gateway, ofClass),
    className: spec.gatewayClassName,
    name: meta.name,
    ...address === undefined ? {} : { address },
    takesTunnels: takesTunnels(gateway),
    ...inbound === undefined ? {} : { inbound },
  };
}

function gatewayAddressOf(written: unknown, namespace: string, network: string): GatewayAddress | undefined {
  const found = waypointAddress(written);
  if (found === undefined) return undefined;
  if ("hostname" in found) return hostAddress(namespace, found.hostname);
  return { address: networkAddress(found.ip, network), hbone_mtls_port: HBONE_PORT };
}

function hostAddress(namespace: string, hostname: string): GatewayAddress {
  return { hostname: { namespace, hostname }, hbone_mtls_port: HBONE_PORT };
}

/** Where the choice looks up objects. */
export interface WaypointSurroundings {
  namespaceLabels(namespace: string): Labels;
  /** The Gateway `namespace/name`. */
  waypoint(key: string): Waypoint | undefined;
}

/** The waypoint of an object. */
export function chooseWaypoint(user: WaypointUser, around: WaypointSurroundings): WaypointChoice {
  const ofNamespace = around.namespaceLabels(user.namespace);
  const asked = askedWaypoint(user, ofNamespace);
  if (asked === undefined) return NONE;
  const found = around.waypoint(asked);
  const unbound = (reason: UnboundReason): WaypointChoice => ({ state: "unbound", waypoint: asked, reason });
  if (found?.address === undefined) return unbound("WaypointIsNotReady");
  if (!admitsNamespace(found, user.namespace, ofNamespace)) return unbound("AttachmentDenied");
  if (!isForTraffic(found, user.sort)) return unbound("UnsupportedTrafficType");
  return { state: "bound", waypoint: asked, address: found.address };
}

/**
 * The address that tunnels get for a choice. Undefined: connections go to the workloads directly.
 *
 * A tunnel refuses connections through a waypoint that it cannot find. So the address of a waypoint that is not used
 * closes the service: no connection passes around policies that only the waypoint can enforce.
 *
 * @param isClosed Whether such policies are bound.
 * @param domain DNS suffix of services.
 */
export function sentWaypoint(choice: WaypointChoice, isClosed: boolean, domain: string): GatewayAddress | undefined {
  if (choice.state === "bound") return choice.address;
  if (choice.state === "none" || !isClosed) return undefined;
  const [namespace = "", name = ""] = choice.waypoint.split("/");
  return hostAddress(namespace, `${name}.${namespace}.svc.${domain}`);
}
