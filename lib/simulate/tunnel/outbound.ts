/**
 * Where a node tunnel sends a connection of one of its workloads.
 *
 *     address ─┬─> a service ─┬─> its waypoint
 *              │              └─> its endpoints
 *              ├─> a workload ─┬─> its waypoint
 *              │               └─> the workload
 *              └─> neither: the connection passes unchanged
 *
 * @module
 */
import { ApplicationTunnel_Protocol, TunnelProtocol } from "../../../proto/gen/enums.ts";
import type { istio } from "../../../proto/gen/types.ts";
import { ipOf } from "../ip.ts";
import type { SocketAddress } from "../types.ts";
import {
  serviceNameOf,
  textOf,
  type TunnelAddresses,
  type TunnelEndpoint,
  type TunnelService,
  type TunnelWorkload,
} from "./addresses.ts";
import { preferred } from "./preferred.ts";

/** The port where tunnels take connections. */
const HBONE_PORT = 15008;

/** Why a tunnel refuses a connection without asking anybody. */
export type TunnelRefusal =
  /** The service has no such port. */
  | "no such port"
  /** No endpoint of the service is healthy, has the port and an address. */
  | "no endpoint"
  /** The waypoint is named, and nothing has the name or address. */
  | "unknown waypoint"
  /** The waypoint has no endpoint that takes connections. */
  | "no waypoint endpoint"
  /** The endpoint is in another network, and no gateway into that network is known. */
  | "no gateway"
  /** The gateway into the network of the endpoint is named, and nothing has the name or address. */
  | "unknown gateway"
  /** The endpoint is in another network, and the service names no identity that may answer there. */
  | "no identity"
  /** The workload has no address. */
  | "no address";

/** A place that the connection may go to. */
export interface TunnelHop {
  readonly workload: TunnelWorkload;
  /** `hbone`: in a tunnel to the workload; `gateway`: in a tunnel within a tunnel, by a gateway of its network. */
  readonly transport: "hbone" | "plain" | "gateway";
  /** The dialled address; a host name for workloads and gateways with a name only. */
  readonly dialled: SocketAddress;
  /** The destination that the tunnel's request names; undefined: there is no tunnel. */
  readonly authority?: string;
  /** The port of the workload, for which its policies are asked. */
  readonly port: number;
  /** The share of connections, above 0 and up to 1. */
  readonly share: number;
}

/** The decision about a connection. */
export type TunnelRoute =
  | { readonly to: "unchanged" }
  | {
    readonly to: "refused";
    readonly why: TunnelRefusal;
    /** The service, `namespace/hostname`. Absent: the address is no service's. */
    readonly service?: string;
    /** The waypoint on the way: `namespace/hostname`, or an address. */
    readonly waypoint?: string;
  }
  | {
    readonly to: "hops";
    readonly service?: string;
    readonly waypoint?: string;
    readonly hops: readonly TunnelHop[];
  };

/**
 * Decides about a connection.
 *
 * @param source The client's workload, as the tunnel has it.
 */
export function tunnelRoute(
  source: TunnelWorkload,
  destination: SocketAddress,
  addresses: TunnelAddresses,
): TunnelRoute {
  const network = source.network ?? "";
  const service = addresses.serviceAt(network, destination.ip, source.namespace ?? "");
  if (service) {
    const name = { service: serviceNameOf(service) };
    if (service.waypoint) {
      return { ...name, ...throughWaypoint(service.waypoint, source, destination, addresses, service) };
    }
    return { ...name, ...toEndpoints(service, source, destination, addresses) };
  }
  const workload = addresses.workloadAt(network, destination.ip);
  if (!workload) return { to: "unchanged" };
  if (workload.waypoint && !isOfWaypoint(source, workload.waypoint, addresses)) {
    return throughWaypoint(workload.waypoint, source, destination, addresses);
  }
  return routeOf([{ workload, ...hopTo(workload, destination.port, destination), share: 1 }]);
}

function routeOf(hops: readonly TunnelHop[]): Exclude<TunnelRoute, { readonly to: "unchanged" }> {
  return hops.some(({ dialled }) => dialled.ip === "") ? { to: "refused", why: "no address" } : { to: "hops", hops };
}

function toEndpoints(
  service: TunnelService,
  source: TunnelWorkload,
  destination: SocketAddress,
  addresses: TunnelAddresses,
): TunnelRoute {
  const target = targetOf(service, destination.port);
  if (target === undefined) return { to: "refused", why: "no such port" };
  const able = addresses.endpoints(service).filter(({ workload, ports }) =>
    isReachable(workload, source) && (target !== 0 || ports.has(destination.port))
  );
  const chosen = preferred(able, service.load_balancing, source);
  if (chosen.length === 0) return { to: "refused", why: "no endpoint" };
  const hops: TunnelHop[] = [];
  for (const { endpoint: { workload, ports }, share } of chosen) {
    const port = ports.get(destination.port) ?? target;
    if (isHere(workload, source)) {
      hops.push({ workload, ...hopTo(workload, port, destination), share });
      continue;
    }
    const found = byGateway(workload, service, service, source, destination, addresses);
    if (typeof found === "string") return { to: "refused", why: found };
    hops.push({ workload, ...found, port, share });
  }
  return routeOf(hops);
}

/**
 * The way into another network: a tunnel to the gateway of the workload, and in it a tunnel that names the service. The
 * gateway must be known, and the service must name who may answer.
 *
 * @param answering The service with the identities of the workloads at the end.
 */
function byGateway(
  { network_gateway: gateway }: TunnelWorkload,
  service: TunnelService,
  answering: TunnelService,
  source: TunnelWorkload,
  destination: SocketAddress,
  addresses: TunnelAddresses,
): Pick<TunnelHop, "transport" | "dialled" | "authority"> | TunnelRefusal {
  if (!gateway) return "no gateway";
  if ((answering.subject_alt_names ?? []).length === 0) return "no identity";
  const dialled = dialledGateway(gateway, source, destination, addresses);
  if (!dialled) return "unknown gateway";
  return { transport: "gateway", dialled, authority: `${service.hostname ?? ""}:${destination.port}` };
}

function dialledGateway(
  gateway: istio.workload.GatewayAddress,
  source: TunnelWorkload,
  destination: SocketAddress,
  addresses: TunnelAddresses,
): SocketAddress | undefined {
  const port = gateway.hbone_mtls_port ?? HBONE_PORT;
  const target = gatewayTarget(gateway, source, addresses);
  const named = gateway.hostname && addresses.workloadNamed(serviceNameOf(gateway.hostname));
  const endpoint = target?.service && addresses.endpoints(target.service).find(({ ports }) => ports.has(port));
  const workload = endpoint?.workload ?? target?.workload ?? named;
  if (!workload) return undefined;
  const ip = target?.workload ? textOf(gateway.address?.address) : addressFor(workload, destination);
  return ip === "" ? undefined : { ip, port: endpoint?.ports.get(port) ?? port };
}

/**
 * A waypoint takes the connection with the client's destination, even if the destination is virtual.
 *
 * @param service The service that the client dials. Absent: the client dials a workload, which no other network has.
 */
function throughWaypoint(
  gateway: istio.workload.GatewayAddress,
  source: TunnelWorkload,
  destination: SocketAddress,
  addresses: TunnelAddresses,
  service?: TunnelService,
): TunnelRoute {
  const waypoint = gatewayText(gateway);
  const port = gateway.hbone_mtls_port ?? HBONE_PORT;
  const found = gatewayTarget(gateway, source, addresses);
  if (!found) return { to: "refused", why: "unknown waypoint", waypoint };
  const endpoints = found.service
    ? addresses.endpoints(found.service).filter(({ workload, ports }) =>
      isWaypointEndpoint(found.service, workload, ports, port)
    )
    : [{ workload: found.workload, ports: new Map([[port, port]]) }];
  const able = endpoints.filter(({ workload }) => isReachable(workload, source));
  const chosen = preferred(able, found.service?.load_balancing, source);
  if (chosen.length === 0) return { to: "refused", why: "no waypoint endpoint", waypoint };
  const hops: TunnelHop[] = [];
  for (const { endpoint: { workload, ports }, share } of chosen) {
    const target = ports.get(port) ?? ((found.service && targetOf(found.service, port)) || port);
    const dialled = { ip: addressFor(workload, destination), port: target };
    const way = service && found.service && !isHere(workload, source)
      ? byGateway(workload, service, found.service, source, destination, addresses)
      : { transport: "hbone", dialled, authority: written(destination) } as const;
    if (typeof way === "string") return { to: "refused", why: way, waypoint };
    hops.push({ workload, ...way, port: target, share });
  }
  return { waypoint, ...routeOf(hops) };
}

type GatewayTarget =
  | { readonly service: TunnelService; readonly workload?: never }
  | { readonly service?: never; readonly workload: TunnelWorkload };

function gatewayTarget(
  { hostname, address }: istio.workload.GatewayAddress,
  source: TunnelWorkload,
  addresses: TunnelAddresses,
): GatewayTarget | undefined {
  const [network, ip] = [address?.network ?? "", textOf(address?.address)];
  const service = hostname
    ? addresses.service(serviceNameOf(hostname))
    : addresses.serviceAt(network, ip, source.namespace ?? "");
  if (service) return { service };
  const workload = hostname ? undefined : addresses.workloadAt(network, ip);
  return workload && { workload };
}

function isWaypointEndpoint(
  service: TunnelService,
  workload: TunnelWorkload,
  ports: TunnelEndpoint["ports"],
  port: number,
): boolean {
  // A waypoint with a port of its own for all destinations needs no port of the service.
  if (targetOf(service, port) !== undefined) return targetOf(service, port) !== 0 || ports.has(port);
  return (workload.application_tunnel?.protocol ?? ApplicationTunnel_Protocol.NONE) !== ApplicationTunnel_Protocol.NONE;
}

/** Whether a workload is an instance of a waypoint, which does not go through itself. */
function isOfWaypoint(
  source: TunnelWorkload,
  gateway: istio.workload.GatewayAddress,
  addresses: TunnelAddresses,
): boolean {
  const { service, workload } = gatewayTarget(gateway, source, addresses) ?? {};
  const instances = service ? addresses.endpoints(service).map((one) => one.workload) : workload ? [workload] : [];
  return instances.some(({ uid }) => uid === source.uid);
}

function hopTo(
  workload: TunnelWorkload,
  port: number,
  destination: SocketAddress,
): Pick<TunnelHop, "transport" | "dialled" | "authority" | "port"> {
  const ip = addressFor(workload, destination);
  if (workload.tunnel_protocol !== TunnelProtocol.HBONE) return { transport: "plain", dialled: { ip, port }, port };
  return { transport: "hbone", dialled: { ip, port: HBONE_PORT }, authority: written({ ip, port }), port };
}

/** The target port of a service's port. 0: the target differs between workloads. Undefined: no such port. */
function targetOf({ ports = [] }: TunnelService, port: number): number | undefined {
  const found = ports.find(({ service_port }) => service_port === port);
  return found && (found.target_port ?? 0);
}

function isReachable(workload: TunnelWorkload, source: TunnelWorkload): boolean {
  const { addresses = [], hostname = "", network_gateway } = workload;
  return addresses.length > 0 || hostname !== "" || !isHere(workload, source) && network_gateway !== undefined;
}

/** The workload's address of the destination's IP family, else its first address, else its host name. */
function addressFor({ addresses = [], hostname = "" }: TunnelWorkload, destination: SocketAddress): string {
  const family = ipOf(destination.ip)?.kind();
  const texts = addresses.map(textOf);
  return texts.find((text) => ipOf(text)?.kind() === family) ?? texts[0] ?? hostname;
}

/** Whether a workload is in the client's network. */
function isHere({ network = "" }: TunnelWorkload, source: TunnelWorkload): boolean {
  return network === (source.network ?? "");
}

function gatewayText({ hostname, address }: istio.workload.GatewayAddress): string {
  return hostname ? serviceNameOf(hostname) : textOf(address?.address);
}

function written({ ip, port }: SocketAddress): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}
