/**
 * The chains of an inbound port: matching connections and their treatment.
 *
 *     protocol HTTP        HTTP
 *     protocol TCP, TLS    bytes
 *     no protocol          HTTP where the first bytes are HTTP, else bytes
 *     TLS settings         TLS of all clients but sidecars ends, then as above
 *
 * and by the mode of mutual TLS:
 *
 *     STRICT       only mutual TLS
 *     PERMISSIVE   mutual TLS of those that offer a sidecar's protocols, and all of the above
 *     DISABLE      all of the above
 *
 * A sidecar's ALPN protocols announce the content of mutual TLS (`cluster/tls.ts`).
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { wrap } from "../../../pb/wellknown.ts";
import type { Protocol, Service } from "../../../registry/types.ts";
import type { Authorization } from "../../authorization/authorization.ts";
import { tcpFilters } from "../../filters/network/order.ts";
import type { TcpProxyPlan } from "../../filters/network/tcp_proxy.ts";
import type { TrafficPlace } from "../../filters/wasm.ts";
import type { Reader } from "../../reader/reader.ts";
import { accessLogs } from "../../telemetry/access_logs.ts";
import { blackHoleFilter } from "../fallthrough.ts";
import { requestFilters } from "../http_connection_manager.ts";
import {
  httpAlpn,
  type ListenerKind,
  listenerKind,
  MESH_PROTOCOLS,
  SIDECAR_BYTES,
  SIDECAR_HTTP,
} from "../../service/protocol.ts";
import { filtersOf } from "../manager_template.ts";
import { statName } from "../stat_name.ts";
import { inboundManagerOptions, type InboundManagers, managerShape, NO_MANAGERS, shapeName } from "./manager.ts";

type FilterChain = envoy.config.listener.v3.FilterChain;
type Filter = envoy.config.listener.v3.Filter;

/** An inbound port, or all ports without chains of their own. */
export interface InboundChain {
  /** Name of the chains (`0.0.0.0_8080`); HTTP and bytes may differ (catch-all). */
  readonly name: { readonly http: string; readonly tcp: string };
  readonly statPrefix: { readonly http: string; readonly tcp: string };
  /** Port at the workload; 0: any. */
  readonly port: number;
  readonly protocol: Protocol;
  readonly cluster: string;
  /** The routes, or the name of a route configuration over ADS. */
  readonly routes: envoy.config.route.v3.RouteConfiguration | string;
  /** How bytes are carried. Absent: to the cluster. */
  readonly bytes?: TcpProxyPlan;
  /** TLS of clients other than sidecars, ended by the proxy in place of the workload. */
  readonly tls?: envoy.config.core.v3.TransportSocket;
  /** Mutual TLS of the mesh. Absent: the mode is DISABLE, or PERMISSIVE and the proxy has no identity. */
  readonly mesh?: MeshTls;
  /** Connections arrived by HBONE, whose TLS has ended: any transport matches. */
  readonly hbone?: true;
  readonly metadata?: envoy.config.core.v3.Metadata;
}

/** Mutual TLS on a port. */
export interface MeshTls {
  readonly mode: "PERMISSIVE" | "STRICT";
  readonly sockets: MeshSockets;
}

/** The sockets that end mutual TLS, by content. An HTTP version is negotiated if the proxy itself speaks HTTP. */
export interface MeshSockets {
  readonly http: envoy.config.core.v3.TransportSocket;
  readonly bytes: envoy.config.core.v3.TransportSocket;
}

/** A chain: matching connections and their treatment. */
interface Variant {
  readonly http: boolean;
  readonly transport: "raw_buffer" | "tls";
  readonly alpn?: readonly string[];
  /** TLS that the proxy ends. Absent: the bytes are passed on. */
  readonly socket?: envoy.config.core.v3.TransportSocket;
}

/**
 * The filter chains of a port, the more specific first.
 *
 * @param managers Connection managers shared with other workloads.
 */
export function inboundFilterChains(
  read: Reader,
  chain: InboundChain,
  authorization: Authorization,
  managers = NO_MANAGERS,
): FilterChain[] {
  // Chains of a port differ in their match. Chains with the same content share filters.
  let http: Filter[] | undefined, bytes: Filter[] | undefined;
  const filters = (variant: Variant) =>
    variant.http
      ? http ??= httpFilters(read, chain, authorization, managers)
      : bytes ??= bytesFilters(read, chain, authorization);
  return chainVariants(read, chain).map((variant) => ({
    name: variant.http ? chain.name.http : chain.name.tcp,
    filter_chain_match: {
      ...(chain.port > 0 ? { destination_port: wrap(chain.port) } : {}),
      ...(chain.hbone ? {} : { transport_protocol: variant.transport }),
      ...(variant.alpn ? { application_protocols: [...variant.alpn] } : {}),
    },
    ...(variant.socket ? { transport_socket: variant.socket } : {}),
    filters: filters(variant),
    ...(chain.metadata ? { metadata: chain.metadata } : {}),
  }));
}

function chainVariants(read: Reader, chain: InboundChain): Variant[] {
  const kind = listenerKind(chain.protocol) ?? "tcp";
  if (chain.mesh?.mode === "STRICT") return strictVariants(kind, chain.mesh.sockets);
  return [...(chain.mesh ? sidecarVariants(kind, chain.mesh.sockets) : []), ...otherVariants(read, kind, chain)];
}

/** All connections must be mutual TLS. The client's ALPN protocols distinguish HTTP. */
function strictVariants(kind: ListenerKind, sockets: MeshSockets): Variant[] {
  const all: Variant = {
    http: kind === "http",
    transport: "tls",
    socket: kind === "http" ? sockets.http : sockets.bytes,
  };
  return kind === "auto" ? [{ http: true, transport: "tls", socket: sockets.http, alpn: SIDECAR_HTTP }, all] : [all];
}

/** Connections of sidecars among others. */
function sidecarVariants(kind: ListenerKind, sockets: MeshSockets): Variant[] {
  const variant = (http: boolean, alpn: readonly string[]): Variant => {
    return { http, transport: "tls", socket: http ? sockets.http : sockets.bytes, alpn };
  };
  if (kind !== "auto") return [variant(kind === "http", MESH_PROTOCOLS)];
  return [variant(true, SIDECAR_HTTP), variant(false, SIDECAR_BYTES)];
}

/** Connections without mutual TLS of the mesh. */
function otherVariants(read: Reader, kind: ListenerKind, { tls, mesh }: InboundChain): Variant[] {
  // Content inside TLS cannot be sniffed before TLS ends, so a port without a protocol carries bytes.
  if (tls) return [{ http: kind === "http", transport: "tls", socket: tls }];
  // With a TLS match in the listener, the workload's own TLS must pass through. An HTTP port has no own TLS.
  const ownTls: Variant[] = mesh && kind !== "http" ? [{ http: false, transport: "tls" }] : [];
  if (kind !== "auto") return [{ http: kind === "http", transport: "raw_buffer" }, ...ownTls];
  const http10 = read.settings.enableHttp10 || read.property("http10");
  return [
    { http: true, transport: "raw_buffer", alpn: httpAlpn(http10) },
    { http: false, transport: "raw_buffer" },
    ...ownTls,
  ];
}

function httpFilters(
  read: Reader,
  chain: InboundChain,
  authorization: Authorization,
  managers: InboundManagers,
): Filter[] {
  const shape = managerShape(chain);
  const { statPrefix: { http: statPrefix }, routes } = chain;
  const known = typeof routes === "string" ? undefined : managers.get(shapeName(shape));
  if (known && typeof routes !== "string") {
    return known.template ? filtersOf(known.template, { statPrefix, routes }) : [blackHoleFilter()];
  }
  const options = inboundManagerOptions(read, shape, authorization);
  return options ? requestFilters(read, { ...options, statPrefix, routes }) : [blackHoleFilter()];
}

/** The filters for bytes. */
export function bytesFilters(read: Reader, chain: InboundChain, { tcp }: Authorization): Filter[] {
  if ("closed" in tcp) return [blackHoleFilter()];
  const idleTimeout = read.property("idleTimeout");
  const plan = chain.bytes ?? {
    statPrefix: chain.statPrefix.tcp,
    // The workload's clusters use the dialled address, and Redis commands have none. So Redis is carried as bytes.
    protocol: chain.protocol === "Redis" ? "TCP" : chain.protocol,
    clusters: [{ name: chain.cluster, weight: 1 }],
    ...(idleTimeout > 0 ? { idleTimeout } : {}),
  };
  const place: TrafficPlace = { side: "server", port: chain.port, ...(chain.hbone ? { hbone: true } : {}) };
  return tcpFilters(read, plan, accessLogs(read, "server", "tcp"), place, tcp.slots);
}

/** Statistics prefix of bytes to a port: by the mesh's pattern if set, else the cluster's name. */
export function inboundStatPrefix(
  read: Reader,
  cluster: string,
  facts: { readonly host: string; readonly service?: Service; readonly port: number; readonly portName: string },
): string {
  const pattern = read.mesh().inboundClusterStatName;
  return pattern ? statName(pattern, { ...facts, subset: "" }) : cluster;
}
