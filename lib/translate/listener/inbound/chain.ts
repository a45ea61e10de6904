/**
 * The chains of one inbound port: the connections that each takes, and their treatment.
 *
 *     protocol HTTP        HTTP
 *     protocol TCP, TLS    bytes
 *     no protocol          HTTP where the first bytes are HTTP, else bytes
 *     TLS settings         TLS of all clients but sidecars ends, then as above
 *
 * and by the mode of mutual TLS:
 *
 *     STRICT       mutual TLS alone
 *     PERMISSIVE   mutual TLS of those that offer a sidecar's protocols, and all of the above
 *     DISABLE      all of the above
 *
 * The protocols that a sidecar offers tell what it carries inside mutual TLS (`cluster/mesh_alpn.ts`).
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { wrap } from "../../../pb/wellknown.ts";
import type { Protocol, Service } from "../../../registry/types.ts";
import type { Authorization } from "../../authorization/authorization.ts";
import { tcpFilters } from "../../filters/network/order.ts";
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
  /** TLS that the proxy ends in place of the workload, of clients that are no sidecars. */
  readonly tls?: envoy.config.core.v3.TransportSocket;
  /** Mutual TLS of the mesh. Absent: the mode is DISABLE, or PERMISSIVE and the proxy has no identity. */
  readonly mesh?: MeshTls;
  /** Connections came by HBONE, whose TLS has ended: any is taken. */
  readonly hbone?: true;
  readonly metadata?: envoy.config.core.v3.Metadata;
}

/** Mutual TLS on a port. */
export interface MeshTls {
  readonly mode: "PERMISSIVE" | "STRICT";
  readonly sockets: MeshSockets;
}

/** The sockets that end mutual TLS, by its content: a version of HTTP is agreed on where the proxy speaks HTTP itself. */
export interface MeshSockets {
  readonly http: envoy.config.core.v3.TransportSocket;
  readonly bytes: envoy.config.core.v3.TransportSocket;
}

/** One chain: the connections that it takes, and their treatment. */
interface Variant {
  readonly http: boolean;
  readonly transport: "raw_buffer" | "tls";
  readonly alpn?: readonly string[];
  /** TLS that ends here; absent: the bytes are passed on. */
  readonly socket?: envoy.config.core.v3.TransportSocket;
}

/**
 * The filter chains of one port, the more specific first.
 *
 * @param managers Connection managers that other workloads have as well.
 */
export function inboundFilterChains(
  read: Reader,
  chain: InboundChain,
  authorization: Authorization,
  managers = NO_MANAGERS,
): FilterChain[] {
  // Chains of a port differ by the connections that they take, not by their treatment of these.
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

/** All connections must be mutual TLS: the client's protocols say which of them are HTTP. */
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

/** Connections that are no mutual TLS of the mesh. */
function otherVariants(read: Reader, kind: ListenerKind, { tls, mesh }: InboundChain): Variant[] {
  // Inside TLS there is nothing to sniff before it is taken off: a port without a protocol carries bytes.
  if (tls) return [{ http: kind === "http", transport: "tls", socket: tls }];
  // Where TLS is looked for, that of the workload itself must be let through; on an HTTP port there is none.
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
  const names = { statPrefix: chain.statPrefix.http, routes: chain.routes };
  const known = managers.get(shapeName(shape));
  if (known) return known.template ? filtersOf(known.template, names) : [blackHoleFilter()];
  const options = inboundManagerOptions(read, shape, authorization);
  return options ? requestFilters(read, { ...options, ...names }) : [blackHoleFilter()];
}

function bytesFilters(read: Reader, chain: InboundChain, { tcp }: Authorization): Filter[] {
  if ("closed" in tcp) return [blackHoleFilter()];
  const idleTimeout = read.property("idleTimeout");
  const plan = {
    statPrefix: chain.statPrefix.tcp,
    // Commands of Redis have no address that a client dialled, by which the workload's own clusters find it.
    protocol: chain.protocol === "Redis" ? "TCP" : chain.protocol,
    clusters: [{ name: chain.cluster, weight: 1 }],
    ...(idleTimeout > 0 ? { idleTimeout } : {}),
  };
  const place: TrafficPlace = { side: "server", port: chain.port, ...(chain.hbone ? { hbone: true } : {}) };
  return tcpFilters(read, plan, accessLogs(read, "server", "tcp"), place, tcp.slots);
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
