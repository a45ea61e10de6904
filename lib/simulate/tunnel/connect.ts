/**
 * A connection between a workload and an address by way of node tunnels: the way, and the verdict of the tunnel at its
 * end.
 *
 * @module
 */
import { TunnelProtocol } from "../../../proto/gen/enums.ts";
import type { SocketAddress } from "../types.ts";
import { textOf, type TunnelAddresses, type TunnelWorkload } from "./addresses.ts";
import { authorizeConnection, type TunnelPolicyTable, type TunnelVerdict } from "./authorize.ts";
import { type TunnelHop, type TunnelRoute, tunnelRoute } from "./outbound.ts";

/** What the tunnels have. */
export interface TunnelState {
  readonly addresses: TunnelAddresses;
  readonly policies: TunnelPolicyTable;
  /**
   * The policies of waypoints for connections, in their own form. Absent: waypoints decide about connections by policies
   * with targets alone.
   */
  readonly layered?: TunnelPolicyTable;
}

/** A place of the route with the verdict of the tunnel there. */
export interface JudgedHop {
  readonly hop: TunnelHop;
  /**
   * Undefined: no tunnel decides there. A waypoint decides itself, by layered policies at first, a workload outside has no
   * tunnel, and a tunnel in another network has the policies of its own cluster.
   */
  readonly verdict: TunnelVerdict | undefined;
}

/** A connection from the client's tunnel on. */
export interface TunnelledConnection {
  readonly route: TunnelRoute;
  readonly hops: readonly JudgedHop[];
  /**
   * Behind a waypoint: the endpoints, judged by the identity of each instance of the waypoint. Empty: there is no
   * waypoint on the way, or it is in another network.
   */
  readonly behind: readonly JudgedHop[];
}

/** The way of a connection and its verdicts. */
export function connectByTunnel(
  client: TunnelWorkload,
  destination: SocketAddress,
  { addresses, policies, layered }: TunnelState,
): TunnelledConnection {
  const route = tunnelRoute(client, destination, addresses);
  if (route.to !== "hops") return { route, hops: [], behind: [] };
  if (route.waypoint === undefined) {
    return { route, hops: route.hops.map((hop) => judged(client, hop, policies)), behind: [] };
  }
  const behind = route.hops.flatMap(({ workload: waypoint, transport }) => {
    if (transport === "gateway") return [];
    const next = tunnelRoute(waypoint, destination, withoutWaypoints(addresses));
    return next.to === "hops" ? next.hops.map((hop) => judged(waypoint, hop, policies)) : [];
  });
  const hops = route.hops.map((hop) => {
    const isHere = hop.transport !== "gateway";
    return { hop, verdict: layered && isHere ? atWaypoint(client, destination, hop, layered) : undefined };
  });
  return { route, hops, behind };
}

/** The identity of a workload: `spiffe://DOMAIN/ns/NAMESPACE/sa/ACCOUNT`. */
export function identityOf({ trust_domain, namespace, service_account }: TunnelWorkload): string {
  return `spiffe://${trust_domain || "cluster.local"}/ns/${namespace ?? ""}/sa/${service_account || "default"}`;
}

function judged(client: TunnelWorkload, hop: TunnelHop, policies: TunnelPolicyTable): JudgedHop {
  const { workload, transport, port } = hop;
  // A workload that speaks HBONE itself has no tunnel before it.
  if (workload.tunnel_protocol !== TunnelProtocol.HBONE || workload.native_tunnel || transport === "gateway") {
    return { hop, verdict: undefined };
  }
  const own = workload.addresses?.map(textOf) ?? [];
  const connection = {
    source: sameFamily(client, own[0]),
    ...transport === "plain" ? {} : { identity: identityOf(client) },
    destination: { ip: own[0] ?? "", port },
  };
  return { hop, verdict: authorizeConnection(connection, workload, policies) };
}

/** A waypoint compares the client itself and the dialled address, not the port of its own workload. */
function atWaypoint(
  client: TunnelWorkload,
  destination: SocketAddress,
  { workload }: TunnelHop,
  policies: TunnelPolicyTable,
): TunnelVerdict {
  const source = sameFamily(client, workload.addresses?.map(textOf)[0]);
  return authorizeConnection({ source, identity: identityOf(client), destination }, workload, policies);
}

function sameFamily({ addresses = [] }: TunnelWorkload, as = ""): string {
  const texts = addresses.map(textOf);
  return texts.find((text) => text.includes(":") === as.includes(":")) ?? texts[0] ?? "";
}

/** The same workloads and services, as a waypoint dials them. */
function withoutWaypoints(addresses: TunnelAddresses): TunnelAddresses {
  const direct = <T extends { waypoint?: unknown }>(one: T | undefined): Omit<T, "waypoint"> | undefined => {
    if (!one) return undefined;
    const { waypoint: _, ...rest } = one;
    return rest;
  };
  return {
    ...addresses,
    serviceAt: (network, ip, namespace) => direct(addresses.serviceAt(network, ip, namespace)),
    workloadAt: (network, ip) => direct(addresses.workloadAt(network, ip)),
  };
}
