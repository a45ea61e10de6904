/**
 * TLSRoute, TCPRoute and UDPRoute of the Gateway API.
 *
 * @module
 */
import { list } from "../../schema/containers.ts";
import { limitedList } from "../../schema/limited.ts";
import { message, type Of } from "../../schema/message.ts";
import { enumOf } from "../../schema/scalars.ts";
import { bytesRules, hostname, parentRefs } from "./common.ts";

const useDefaultGateways = enumOf("All", "None");

export const tlsRoute = message({
  /** The objects that the route attaches to. */
  parentRefs,
  /** Not supported: a route attaches to the parents that it names. */
  useDefaultGateways,
  /** Server names of clients; absent (before v1): all hosts of the listeners. */
  hostnames: limitedList(list(hostname), { max: 1024 }),
  /** The rules: one, or up to 16 before v1. */
  rules: bytesRules,
});

/** A TLSRoute of the Gateway API: where TLS connections go, by their server names. */
export interface TLSRouteSpec extends Of<typeof tlsRoute> {}

export const tcpRoute = message({
  /** The objects that the route attaches to. */
  parentRefs,
  /** Not supported: a route attaches to the parents that it names. */
  useDefaultGateways,
  /** The rules: one, or up to 16 before v1. */
  rules: bytesRules,
});

/** A TCPRoute of the Gateway API: where TCP connections go. */
export interface TCPRouteSpec extends Of<typeof tcpRoute> {}

export const udpRoute = message({
  /** The objects that the route attaches to. */
  parentRefs,
  /** Not supported: a route attaches to the parents that it names. */
  useDefaultGateways,
  /** The rules: one, or up to 16 before v1. */
  rules: bytesRules,
});

/** A UDPRoute of the Gateway API: where datagrams go. */
export interface UDPRouteSpec extends Of<typeof udpRoute> {}
