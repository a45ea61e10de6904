/**
 * Protocols of listeners, and the kinds of routes that a protocol carries.
 *
 * @module
 */
import type { ApiListener } from "../../config/kinds/kinds.ts";
import { GATEWAY_API_GROUP } from "../../config/spelling/spelling.ts";
import { isTunnelClass } from "./classes.ts";
import { type ClassRole, LISTENER_PROTOCOLS, type ListenerProtocol, ROUTE_KINDS, type RouteKind } from "./types.ts";

/** The protocol of a listener; undefined: unknown. */
export function protocolOf({ protocol }: ApiListener): ListenerProtocol | undefined {
  return LISTENER_PROTOCOLS.find((one) => one === protocol);
}

/** The protocol and port that a class expects of a listener; undefined: the class supports the listener's. */
export function expectedProtocol({ protocol, port }: ApiListener, role: ClassRole): string | undefined {
  if (isTunnelClass(role)) {
    return protocol === "HBONE" && isTunnelPort(port)
      ? undefined
      : `HBONE on port ${TUNNEL_PORT}, because the class is only for HBONE`;
  }
  const known = LISTENER_PROTOCOLS.find((one) => one === protocol);
  // A gateway of another cluster may take tunnels.
  if (known !== undefined && (known !== "HBONE" || role === "remote")) return undefined;
  const hint = LISTENER_PROTOCOLS.find((one) => one === protocol.toUpperCase() && one !== protocol);
  return `HTTP, HTTPS, TLS, TCP or UDP${hint ? ` (did you mean ${hint}?)` : ""}`;
}

/** The port of HBONE, the tunnel of the mesh. */
const TUNNEL_PORT = 15008;

/** Whether a port is the port of HBONE. */
export function isTunnelPort(port: number): boolean {
  return port === TUNNEL_PORT;
}

/** Whether a listener ends TLS with a certificate. */
export function endsTls({ protocol, tls }: ApiListener): boolean {
  return protocol === "HTTPS" || (protocol === "TLS" && tls?.mode !== "Passthrough");
}

/** Whether listeners of a protocol are told apart by hostname. */
export function hasHostname(protocol: ListenerProtocol): boolean {
  return protocol !== "TCP" && protocol !== "UDP";
}

/** The kinds of routes that a listener's protocol carries. */
function carriedKinds(spec: ApiListener): readonly RouteKind[] {
  switch (protocolOf(spec)) {
    case "HTTP":
    case "HTTPS":
      return ["HTTPRoute", "GRPCRoute"];
    case "TLS":
      return endsTls(spec) ? ["TLSRoute", "TCPRoute"] : ["TLSRoute"];
    case "TCP":
      return ["TCPRoute"];
    case "UDP":
      return ["UDPRoute"];
    default:
      return [];
  }
}

/** The kinds of routes that may attach, and the kinds of `allowedRoutes` that the protocol does not carry. */
export function routeKinds(spec: ApiListener): { supported: readonly RouteKind[]; unsupported: readonly string[] } {
  const carried = carriedKinds(spec);
  const wanted = spec.allowedRoutes?.kinds;
  if (!wanted?.length) return { supported: carried, unsupported: [] };
  const supported = new Set<RouteKind>();
  const unsupported: string[] = [];
  for (const { group = GATEWAY_API_GROUP, kind } of wanted) {
    const known = group === GATEWAY_API_GROUP ? ROUTE_KINDS.find((one) => one === kind) : undefined;
    if (known !== undefined && carried.includes(known)) supported.add(known);
    else unsupported.push(group === GATEWAY_API_GROUP ? kind : `${kind}.${group}`);
  }
  return { supported: [...supported], unsupported };
}
