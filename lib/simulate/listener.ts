/**
 * Chooses the listener for a connection.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { TrafficDirection } from "../../proto/gen/enums.ts";
import { isFalse } from "./decode.ts";
import { ipOf, sameIp } from "./ip.ts";
import type { ListenerStep, ProxyResources, SimulatedRequest, SocketAddress } from "./types.ts";

type Listener = envoy.config.listener.v3.Listener;

/** The listener of a connection, and why. */
export interface ChosenListener {
  readonly listener: Listener;
  /** The virtual listener that handed the connection on. */
  readonly via?: Listener;
  readonly why: ListenerStep["why"];
}

/**
 * Chooses the listener.
 *
 * A redirected connection arrives at the virtual listener of its direction. If the virtual listener hands connections
 * on (`use_original_dst`), the listener of the original address takes the connection. Without such a listener, a
 * listener of any address with the port takes the connection, or else the virtual listener keeps the connection. A
 * connection without redirection needs a listener that is bound to a socket. A connection that came by HBONE goes on at
 * the internal listener behind the listener that ended CONNECT.
 *
 * @returns Undefined when there is no listener: the connection is refused.
 */
export function chooseListener(resources: ProxyResources, request: SimulatedRequest): ChosenListener | undefined {
  const listeners = [...resources.listeners.values()];
  if (request.direction === "direct") {
    return byAddress(listeners.filter((listener) => isBound(listener)), request.destination);
  }
  if (request.hbone) {
    const inside = listeners.find((one) => one.internal_listener && one.traffic_direction === TrafficDirection.INBOUND);
    return inside && { listener: inside, why: "inside of HBONE" };
  }
  const virtual = virtualListener(listeners, request.direction);
  // Nothing is redirected: the proxy takes the connections of its own sockets.
  if (virtual === undefined) return byAddress(listeners.filter(isBound), request.destination);
  const why = "no listener for the original destination";
  if (!virtual.use_original_dst?.value) return { listener: virtual, why };
  const found = byAddress(listeners.filter((listener) => listener !== virtual), request.destination);
  return found ? { ...found, via: virtual } : { listener: virtual, why };
}

/**
 * The sockets at which a workload reaches other services through a proxy to which no connection is redirected.
 * Undefined: outgoing connections are redirected to the proxy.
 */
export function clientSockets(resources: ProxyResources): SocketAddress[] | undefined {
  const listeners = [...resources.listeners.values()];
  if (virtualListener(listeners, "outbound") !== undefined) return undefined;
  return listeners.filter((one) => isBound(one) && one.traffic_direction === TrafficDirection.OUTBOUND)
    .flatMap(addresses);
}

function virtualListener(listeners: readonly Listener[], direction: "outbound" | "inbound"): Listener | undefined {
  const outbound = direction === "outbound";
  const named = listeners.find((listener) => listener.name === (outbound ? "virtualOutbound" : "virtualInbound"));
  const way = outbound ? TrafficDirection.OUTBOUND : TrafficDirection.INBOUND;
  return named ??
    listeners.find((listener) => listener.use_original_dst?.value && listener.traffic_direction === way);
}

function byAddress(listeners: readonly Listener[], to: SocketAddress): ChosenListener | undefined {
  const exact = listeners.find((listener) =>
    addresses(listener).some((at) => at.port === to.port && sameIp(at.ip, to.ip))
  );
  if (exact) return { listener: exact, why: "exact address" };
  const any = to.ip.includes(":") ? "::" : "0.0.0.0";
  const wildcard = listeners.find((listener) =>
    addresses(listener).some((at) => at.port === to.port && (sameIp(at.ip, any) || at.dual))
  );
  return wildcard && { listener: wildcard, why: "wildcard address" };
}

interface BoundAddress extends SocketAddress {
  /** The address is `::` and takes IPv4, too. */
  readonly dual: boolean;
}

function addresses(listener: Listener): BoundAddress[] {
  // The simulated connections are TCP connections.
  if (listener.udp_listener_config) return [];
  const all = [listener.address, ...(listener.additional_addresses ?? []).map((additional) => additional.address)];
  return all.flatMap((address) => {
    const socket = address?.socket_address;
    if (!socket || ipOf(socket.address ?? "") === undefined) return [];
    const dual = socket.ipv4_compat === true && sameIp(socket.address ?? "", "::");
    return [{ ip: socket.address ?? "", port: socket.port_value ?? 0, dual }];
  });
}

function isBound(listener: Listener): boolean {
  return !isFalse(listener.bind_to_port) && !isFalse(listener.deprecated_v1?.bind_to_port);
}
