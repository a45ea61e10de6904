/**
 * The listeners of a gateway: one per port of the merged Gateway objects.
 *
 *     0.0.0.0_8080   all requests ─> route configuration http.8080
 *     0.0.0.0_8443   server name a ─> TLS ends ─> https.443.https-a.gw.ns
 *                    server name b ─> passed on ─> outbound|443||b.example.com
 *     10.0.0.1_9000  bytes ─> outbound|9000||db.ns.svc.cluster.local
 *     udp_0.0.0.0_8443   HTTP/3, server name a ─> https.443.https-a.gw.ns
 *     udp_0.0.0.0_53     datagrams ─> outbound_udp|53||dns.ns.svc.cluster.local
 *
 * @module
 */
import {
  HttpConnectionManager_ForwardClientCertDetails as Forward,
  TrafficDirection,
} from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { GatewayTopology } from "../../config/mesh/types.ts";
import type { Finding } from "../../finding/finding.ts";
import { duration, wrap } from "../../pb/wellknown.ts";
import { isUnixSocket } from "../../registry/address.ts";
import type { ServiceTarget } from "../../registry/inbound.ts";
import { parseProtocol } from "../../registry/protocol.ts";
import { Authorization } from "../authorization/authorization.ts";
import { tokenFilters, unverifiableFindings } from "../filters/http/jwt_authn/filter.ts";
import { proxyProtocolFilter } from "../filters/listener/proxy_protocol.ts";
import { tlsInspectorFilter } from "../filters/listener/tls_inspector.ts";
import { tcpFilters } from "../filters/network/order.ts";
import type { TcpProxyPlan } from "../filters/network/tcp_proxy.ts";
import { pluginCauses } from "../filters/wasm.ts";
import { cidrRange, listenAddresses, listenerName, wildcards } from "../listener/address.ts";
import { blackHoleFilter } from "../listener/fallthrough.ts";
import { requestFilters } from "../listener/http_connection_manager.ts";
import type { Built } from "../message/built.ts";
import { objectMetadata } from "../message/object_metadata.ts";
import { joinedParts } from "../message/parts.ts";
import type { Reader } from "../reader/reader.ts";
import { accessLogs, listenerAccessLogs } from "../telemetry/access_logs.ts";
import { type ChainTarget, type GatewayChain, portChains } from "./chains.ts";
import { datagramListener } from "./datagrams.ts";
import { HTTP3_CODEC, quicListener } from "./http3.ts";
import { mergedGateways, type MergedPort } from "./merge.ts";
import { PASSED_PLAN, passedNamesFilter } from "./passed.ts";
import { type GatewayRefusal, serverRefusal } from "./problem.ts";

/**
 * Time limit of a client's TLS handshake, ms (Istio's value). Slow clients would fill the memory of a port that the
 * whole internet reaches.
 */
const HANDSHAKE_TIMEOUT_MS = 15_000;

/** A listener, or the reasons for having none. */
export interface GatewayListener {
  /** Absent: nothing is left to serve on the port. */
  readonly listener?: Built<envoy.config.listener.v3.Listener>;
  readonly problems: readonly GatewayRefusal[];
}

/** The listeners of a gateway. */
export interface GatewayListeners {
  readonly listeners: readonly Built<envoy.config.listener.v3.Listener>[];
  /** Everything not served as written, from the merge and from every port. */
  readonly problems: readonly GatewayRefusal[];
  /** Parts of authorization policies that are not in force as written. */
  readonly findings: readonly Finding[];
}

/**
 * All listeners of a gateway, in the order of the ports in the Gateway objects.
 *
 * @param targets Ports of the services that select the workload. Each maps a service port to a port of the workload.
 */
export function gatewayListeners(read: Reader, targets: readonly ServiceTarget[] = []): GatewayListeners {
  const merged = mergedGateways(read, targets);
  const authorization = new Authorization(read);
  const built = merged.ports.map((port) => gatewayListener(read, port, authorization));
  return {
    listeners: built.flatMap(({ listener }) => listener ?? []),
    problems: [...merged.problems, ...built.flatMap(({ problems }) => problems)],
    findings: gatewayPolicyFindings(read, merged.ports, authorization),
  };
}

/** Findings about the workload's policies at ports with listeners. */
export function gatewayPolicyFindings(
  read: Reader,
  ports: readonly MergedPort[],
  authorization: Authorization,
): Finding[] {
  const bytes = ports.filter(({ servers }) =>
    servers.some(({ routeName, kind }) => routeName === undefined && kind !== "autoPassthrough" && kind !== "udp")
  );
  return [
    ...bytes.flatMap(({ port }) => authorization.bytesFindings(port)),
    ...authorization.findings(),
    ...(ports.some(servesHttp) ? unverifiableFindings(read) : []),
  ];
}

function servesHttp({ servers }: MergedPort): boolean {
  return servers.some(({ routeName }) => routeName !== undefined);
}

/** The listener of a port. */
export function gatewayListener(read: Reader, port: MergedPort, authorization: Authorization): GatewayListener {
  const privileged = port.port > 0 && port.port < 1024;
  if (privileged && read.property("isUnprivileged")) {
    const why = "left out, an unprivileged proxy cannot listen on ports below 1024";
    return { problems: port.servers.map((server) => serverRefusal(server, port.port, "privilegedPort", why)) };
  }
  if (port.kind === "udp") return datagramListener(read, port, authorization);
  const { chains, problems } = portChains(read, port);
  if (chains.length === 0) return { problems };
  const tokens = servesHttp(port) ? read.tokenPolicy().causes : [];
  const policies = [...authorization.causes, ...tokens, ...read.telemetryCauses(), ...pluginCauses(read, "client")];
  const causes = [...new Set([...chains.flatMap((chain) => chain.causes), ...policies])];
  const secrets = chains.flatMap((chain) => chain.secrets ?? []);
  const parts = joinedParts(chains.map((chain) => chain.parts));
  const message = listener(read, port, chains, authorization);
  return { listener: { message, causes, parts, ...(secrets.length > 0 ? { secrets } : {}) }, problems };
}

interface ListenerOfPort {
  readonly port: MergedPort;
  readonly name: string;
  readonly authorization: Authorization;
}

function listener(
  read: Reader,
  port: MergedPort,
  chains: readonly GatewayChain[],
  authorization: Authorization,
): envoy.config.listener.v3.Listener {
  const binds = port.bind === "" ? wildcards(read) : [port.bind];
  const name = `${port.http3 ? "udp_" : ""}${listenerName(binds[0] ?? "", port.port)}`;
  const topology = gatewayTopology(read);
  const perEvent = read.settings.maxConnectionsPerSocketEventLoop;
  const logs = listenerAccessLogs(read, "client");
  return {
    name,
    ...(port.http3 ? quicListener(binds, port.port) : listenAddresses(binds, port.port)),
    traffic_direction: TrafficDirection.OUTBOUND,
    listener_filters: port.http3 ? [] : [
      // First of all filters: the client's bytes begin after the header.
      ...(topology?.proxyProtocol ? [proxyProtocolFilter()] : []),
      ...(port.kind === "tls" ? [tlsInspectorFilter()] : []),
    ],
    filter_chains: chains.map((chain) => filterChain(read, { port, name, authorization }, chain)),
    ...(perEvent > 0 ? { max_connections_to_accept_per_socket_event: wrap(perEvent) } : {}),
    ...(read.property("outboundExactBalance") && !port.http3 && !isUnixSocket(port.bind)
      ? { connection_balance_config: { exact_balance: {} } }
      : {}),
    ...(logs.length > 0 ? { access_log: logs } : {}),
  };
}

function filterChain(
  read: Reader,
  of: ListenerOfPort,
  chain: GatewayChain,
): envoy.config.listener.v3.FilterChain {
  return {
    ...chainMatchOf(chain),
    filters: targetFilters(read, of, chain.target),
    ...(chain.socket ? { transport_socket: chain.socket } : {}),
    transport_socket_connect_timeout: duration(HANDSHAKE_TIMEOUT_MS),
    metadata: objectMetadata(chain.decidedBy),
  };
}

function chainMatchOf(
  { serverNames, ranges = [], applicationProtocols }: GatewayChain,
): envoy.config.listener.v3.FilterChain {
  if (serverNames.length === 0 && ranges.length === 0 && applicationProtocols === undefined) return {};
  return {
    filter_chain_match: {
      ...(ranges.length > 0 ? { prefix_ranges: ranges.map(cidrRange) } : {}),
      ...(serverNames.length > 0 ? { server_names: [...serverNames] } : {}),
      ...(applicationProtocols ? { application_protocols: [...applicationProtocols] } : {}),
    },
  };
}

function targetFilters(
  read: Reader,
  { port, name, authorization }: ListenerOfPort,
  target: ChainTarget,
): envoy.config.listener.v3.Filter[] {
  if ("passed" in target) {
    // Authorization policies need the client's identity, and only the server sees that identity.
    const slots = { authorization: [passedNamesFilter(target.passed)] };
    const plan = withIdleTimeout(read, PASSED_PLAN);
    return tcpFilters(read, plan, accessLogs(read, "client", "tcp"), { side: "client", port: port.port }, slots);
  }
  if ("proxy" in target) {
    const { tcp } = authorization;
    if ("closed" in tcp) return [blackHoleFilter()];
    const plan = withIdleTimeout(read, target.proxy);
    return tcpFilters(read, plan, accessLogs(read, "client", "tcp"), { side: "client", port: port.port }, tcp.slots);
  }
  const { http } = authorization;
  const authentication = tokenFilters(read);
  if ("closed" in http || authentication === undefined) return [blackHoleFilter()];
  return requestFilters(read, {
    direction: "gateway",
    port: port.port,
    statPrefix: `outbound_${name}`,
    routes: target.routeName,
    grpcWeb: port.servers.some(({ spec }) => parseProtocol(spec.port.protocol) === "GRPC-Web"),
    overrides: {
      ...clientHeaders(gatewayTopology(read)),
      ...(port.http3 ? HTTP3_CODEC : {}),
      ...(target.statPrefix === undefined ? {} : { stat_prefix: target.statPrefix }),
    },
    slots: { ...http.slots, authentication },
  });
}

/** The destination rule's timeout, else the proxy's own. */
function withIdleTimeout(read: Reader, plan: TcpProxyPlan): TcpProxyPlan {
  if (plan.idleTimeout !== undefined) return plan;
  const idleTimeout = read.property("idleTimeout");
  return idleTimeout > 0 ? { ...plan, idleTimeout } : plan;
}

type HttpConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

/**
 * The gateway topology in force, from the proxy's settings or else from the mesh: the number of trusted proxies in
 * front of the gateway, and the accepted header with a client certificate.
 */
function gatewayTopology(read: Reader): GatewayTopology | undefined {
  const own = read.derived("gatewayTopology", (t) => t.gatewayTopology ? JSON.stringify(t.gatewayTopology) : "");
  return own === "" ? read.mesh().defaultConfig.gatewayTopology : JSON.parse(own) as GatewayTopology;
}

/**
 * How a gateway determines its client. By default no header is trusted: the client's `x-forwarded-client-cert` is
 * replaced by the certificate of the connection.
 */
function clientHeaders(
  topology: GatewayTopology | undefined,
): Pick<
  HttpConnectionManager,
  "xff_num_trusted_hops" | "forward_client_cert_details" | "set_current_client_cert_details"
> {
  const hops = topology?.numTrustedProxies ?? 0;
  const written = topology?.forwardClientCertDetails ?? "UNDEFINED";
  const forward = written === "UNDEFINED" ? "SANITIZE_SET" : written;
  const appends = forward === "SANITIZE_SET" || forward === "APPEND_FORWARD";
  return {
    ...(hops > 0 ? { xff_num_trusted_hops: hops } : {}),
    forward_client_cert_details: Forward[forward],
    ...(appends ? { set_current_client_cert_details: { subject: wrap(true), cert: true, dns: true, uri: true } } : {}),
  };
}
