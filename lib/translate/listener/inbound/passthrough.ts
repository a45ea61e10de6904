/**
 * The chains of ports without a service: connections are passed through, and HTTP is recognized. Except for ports with
 * a TLS mode of their own, the chains depend on no service, so all proxies with equal policies and properties share
 * them.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import type { Finding } from "../../../finding/finding.ts";
import { wrap } from "../../../pb/wellknown.ts";
import { Authorization } from "../../authorization/authorization.ts";
import { INBOUND_PASSTHROUGH } from "../../cluster/static.ts";
import type { InboundTarget } from "../../inbound/target.ts";
import type { Reader } from "../../reader/reader.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import { inboundRouteConfiguration } from "../../route/configuration.ts";
import { blackHoleFilter } from "../fallthrough.ts";
import { type InboundChain, inboundFilterChains } from "./chain.ts";
import { type PeerTls, peerTls } from "./peer_tls.ts";

type FilterChain = envoy.config.listener.v3.FilterChain;

/** Name of the listener to which inbound connections are redirected. */
export const VIRTUAL_INBOUND = "virtualInbound";

/** The policies that decide which clients may connect. */
export interface WorkloadPolicies {
  readonly peers: PeerTls;
  readonly authorization: Authorization;
}

/** The policies of the proxy's workload. */
export function workloadPolicies(read: Reader): WorkloadPolicies {
  return { peers: peerTls(read), authorization: new Authorization(read) };
}

/** The treatment of connections to ports that neither a service nor a policy names. */
export interface Passthrough {
  readonly chains: readonly FilterChain[];
  /** Parts of the policies that are not in force as written. */
  readonly findings: readonly Finding[];
}

/** Matches no connection: for a workload whose chains could not be built. */
export const NO_PASSTHROUGH: Passthrough = { chains: [], findings: [] };

/** The chains of all ports without a service. Empty for a proxy that captures no inbound connections. */
export function passthrough(read: Reader): Passthrough {
  if (!capturesInbound(read)) return NO_PASSTHROUGH;
  const policies = workloadPolicies(read);
  const chains = passthroughChains(read, 0, policies);
  return { chains, findings: policies.authorization.findings() };
}

/** A key for finding workloads with the same policies. */
export function passthroughName({ mesh, properties }: ScopeReader): string {
  const { authorizationPolicies, peerAuthentications, requestAuthentications } = mesh;
  const policies = authorizationPolicies.of(properties).map(({ key }) => key);
  const merged = [peerAuthentications.of(properties), requestAuthentications.of(properties)];
  return [...merged.flatMap(({ causes }) => causes), ...policies].join();
}

/** Whether inbound connections are redirected to the proxy. */
export function capturesInbound(read: Reader): boolean {
  return read.property("interceptionMode") !== "NONE" && read.mesh().proxyInboundListenPort !== 0;
}

/** Stands for the ports without a service. */
const ANY_PORT: InboundTarget = {
  port: 0,
  servicePort: { name: VIRTUAL_INBOUND, port: 0, protocol: "Unsupported" },
  captureMode: "DEFAULT",
  fromSidecarIngress: false,
};

/**
 * The chains of a port without a service.
 *
 * @param port A port with a TLS mode of its own. 0: all other ports, which match no chain when closed.
 */
export function passthroughChains(
  read: Reader,
  port: number,
  { peers, authorization }: WorkloadPolicies,
): FilterChain[] {
  const { mesh, closed } = peers.of(port);
  if (closed) return port === 0 ? [] : [closedChain(`${VIRTUAL_INBOUND}-${port}`, port)];
  return inboundFilterChains(read, { ...PASSED, ...(mesh ? { mesh } : {}), port }, authorization);
}

/** The chain for connections to any other port. */
export const PASSED: InboundChain = {
  name: { http: `${VIRTUAL_INBOUND}-catchall-http`, tcp: VIRTUAL_INBOUND },
  statPrefix: { http: INBOUND_PASSTHROUGH, tcp: INBOUND_PASSTHROUGH },
  port: 0,
  protocol: "Unsupported",
  cluster: INBOUND_PASSTHROUGH,
  routes: inboundRouteConfiguration(ANY_PORT, INBOUND_PASSTHROUGH),
};

/**
 * A chain that closes a port. Without the chain the port would be passed through in plain text. Users notice a closed
 * port, and would not notice plain text.
 */
export function closedChain(name: string, port: number): FilterChain {
  return { name, filter_chain_match: { destination_port: wrap(port) }, filters: [blackHoleFilter()] };
}
