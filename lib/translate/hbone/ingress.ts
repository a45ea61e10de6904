/**
 * How a gateway reaches a service that asks gateways to use its waypoint.
 *
 *     gateway ── CONNECT VIP:PORT, mutual TLS ──> pod of the waypoint :15008 ──> workload
 *
 * A waypoint that cannot be used closes the service, if a policy is bound that only the waypoint can enforce. Otherwise
 * the gateway reaches the workloads directly.
 *
 * @module
 */
import { hostAndPort } from "../values/host.ts";
import { keyText } from "../../finding/object_name.ts";
import type { IngressWay } from "../../mesh/waypoints/ingress.ts";
import type { Service, ServicePort } from "../../registry/types.ts";
import { aspect } from "../reader/aspect.ts";
import type { Reader } from "../reader/reader.ts";
import { isRange, tunnelAddresses } from "../service/address.ts";
import { sendsHbone } from "./ability.ts";

/** The way of a gateway to a port of a service. */
export type IngressPath =
  | {
    readonly way: "waypoint";
    /** Host of the waypoint's service. */
    readonly host: string;
    /** The address inside of the tunnel: an address of the service with the port. */
    readonly dialled: string;
  }
  | {
    readonly way: "closed" | "direct";
    /** Why the waypoint is not used, and what follows: a sentence. */
    readonly why: string;
  };

/** A destination of a gateway. */
interface IngressDestination {
  readonly service: Service;
  readonly port: ServicePort;
  readonly discovery: string;
}

/**
 * The way to a destination. Undefined: the service does not ask for a waypoint, or the proxy is no gateway. No property of
 * the proxy is read where the service does not ask.
 */
export function ingressPath(read: Reader, d: IngressDestination): IngressPath | undefined {
  if (!read.settings.ingressWaypoints) return undefined;
  const way = read.ingressWay(d.service.hostname);
  if (way === undefined || !aspect(read, "gateways")) return undefined;
  const { hostname } = d.service;
  if (d.discovery !== "eds") {
    const why =
      `gateways reach ${hostname} past its waypoint ${way.waypoint}: they resolve names of endpoints themselves`;
    return { way: "direct", why };
  }
  const address = tunnelAddresses(read, d.service).find((one) => !isRange(one));
  const reason = way.why ?? reasonOf(read, d.service, address);
  if (reason === undefined && way.at !== undefined && address !== undefined) {
    return { way: "waypoint", host: way.at, dialled: hostAndPort(address, d.port.port) };
  }
  return unused(hostname, way, reason ?? "");
}

function reasonOf(read: Reader, { picked }: Service, address: string | undefined): string | undefined {
  if (picked) return "an endpoint picker chooses the workloads";
  if (address === undefined) return "the service has no address of its own";
  return sendsHbone(read) ? undefined : "the gateway makes no connections by HBONE (PILOT_ENABLE_SENDING_HBONE)";
}

function unused(hostname: string, { waypoint, policy, isClosed }: IngressWay, reason: string): IngressPath {
  const start = `gateways do not use the waypoint ${waypoint} of ${hostname}: ${reason}`;
  const named = keyText(policy ?? "");
  if (isClosed) return { way: "closed", why: `${start}; they send nothing, because ${named} needs the waypoint` };
  const unenforced = policy === undefined ? "" : `, and nothing enforces ${named} (MESH_WAYPOINT_FAIL_OPEN=true)`;
  return { way: "direct", why: `${start}; they reach the workloads directly${unenforced}` };
}
