/**
 * The chains of one inbound port: which connections each takes, and what is done with them.
 *
 *     protocol HTTP        HTTP
 *     protocol TCP, TLS    bytes
 *     no protocol          HTTP where the first bytes are HTTP, else bytes
 *     TLS settings         one chain that ends TLS, then as above
 *
 * Mutual TLS of the mesh adds its variants in `chainVariants`; nothing else needs to know.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { wrap } from "../../../pb/wellknown.ts";
import type { Protocol, Service } from "../../../registry/types.ts";
import { tcpFilters } from "../../filters/network/order.ts";
import type { Reader } from "../../reader/reader.ts";
import { accessLogs } from "../access_log.ts";
import { httpConnectionManager } from "../http_connection_manager.ts";
import { httpAlpn, isHttp2, listenerKind } from "../../service/protocol.ts";
import { statName } from "../stat_name.ts";

type FilterChain = envoy.config.listener.v3.FilterChain;

/** One inbound port, or all that no other names. */
export interface InboundChain {
  /** Name of the chains (`0.0.0.0_8080`); HTTP and bytes may differ (catch-all). */
  readonly name: { readonly http: string; readonly tcp: string };
  readonly statPrefix: { readonly http: string; readonly tcp: string };
  /** Port at the workload; 0: any. */
  readonly port: number;
  readonly protocol: Protocol;
  readonly cluster: string;
  readonly routes: envoy.config.route.v3.RouteConfiguration;
  /** TLS that the proxy ends. */
  readonly tls?: envoy.config.core.v3.TransportSocket;
  readonly metadata?: envoy.config.core.v3.Metadata;
}

/** One chain: which connections, and as what. */
interface Variant {
  readonly http: boolean;
  readonly transport: "raw_buffer" | "tls";
  readonly alpn?: readonly string[];
}

/** The filter chains of one port, the more specific first. */
export function inboundFilterChains(read: Reader, chain: InboundChain): FilterChain[] {
  return chainVariants(read, chain).map((variant) => ({
    name: variant.http ? chain.name.http : chain.name.tcp,
    filter_chain_match: {
      ...(chain.port > 0 ? { destination_port: wrap(chain.port) } : {}),
      transport_protocol: variant.transport,
      ...(variant.alpn ? { application_protocols: [...variant.alpn] } : {}),
    },
    ...(chain.tls && variant.transport === "tls" ? { transport_socket: chain.tls } : {}),
    filters: variant.http ? [httpFilter(read, chain)] : bytesFilters(read, chain),
    ...(chain.metadata ? { metadata: chain.metadata } : {}),
  }));
}

function chainVariants(read: Reader, chain: InboundChain): Variant[] {
  const kind = listenerKind(chain.protocol) ?? "tcp";
  const transport = chain.tls ? "tls" : "raw_buffer";
  // Inside TLS there is nothing to sniff before it is taken off: a port without a protocol carries bytes.
  if (kind !== "auto" || chain.tls) return [{ http: kind === "http", transport }];
  const http10 = read.settings.enableHttp10 || read.property("http10");
  return [{ http: true, transport, alpn: httpAlpn(http10) }, { http: false, transport }];
}

function httpFilter(read: Reader, chain: InboundChain): envoy.config.listener.v3.Filter {
  return httpConnectionManager(read, {
    direction: "inbound",
    statPrefix: chain.statPrefix.http,
    routes: chain.routes,
    grpcWeb: chain.protocol === "GRPC-Web",
    http2: isHttp2(chain.protocol),
  });
}

function bytesFilters(read: Reader, chain: InboundChain): envoy.config.listener.v3.Filter[] {
  const idleTimeout = read.property("idleTimeout");
  const plan = {
    statPrefix: chain.statPrefix.tcp,
    clusters: [{ name: chain.cluster, weight: 1 }],
    ...(idleTimeout > 0 ? { idleTimeout } : {}),
  };
  return tcpFilters(read, plan, accessLogs(read.mesh()));
}

/** Statistics prefix of bytes to a port: by the mesh's pattern where there is one, else the cluster's name. */
export function inboundStatPrefix(
  read: Reader,
  cluster: string,
  facts: { readonly host: string; readonly service?: Service; readonly port: number; readonly portName: string },
): string {
  const pattern = read.mesh().inboundClusterStatName;
  return pattern ? statName(pattern, { ...facts, subset: "" }) : cluster;
}
