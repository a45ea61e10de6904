/**
 * The HTTP filters of every listener, in order.
 *
 * A request passes the filters from top to bottom, an answer from bottom to top. Reasons for the order:
 *
 * 0. On the inbound side, the peer exchange comes first: metrics of refused requests name the client, too.
 *    On the outbound side of a sidecar that asks for what it calls, the question comes first: an answer may bring
 *    another route, and the request then passes all filters again.
 * 1. External authorization (`CUSTOM` policies): may refuse a request before other filters spend work.
 * 2. Extensions of phase AUTHN, then end-user authentication: the identity of the caller.
 * 3. Extensions of phase AUTHZ, then authorization: the caller's permission. Needs the identity of step 2.
 * 4. Extensions of phase STATS or without a phase: see only admitted requests.
 * 5. `grpc_web`: turns a browser's call into plain gRPC, which step 6 counts.
 * 6. `grpc_stats`: counts the call, also when a fault ends the call.
 * 7. `fault`, then `cors`: act by the route. A fault may end the request.
 * 8. On the other sides, the proxy states its identity to the cluster that the request really goes to.
 * 9. At gateways, if InferencePools are served, the endpoint picker's filters: the picker chooses an endpoint of the pool.
 * 10. `stateful_session`: picks the endpoint, so no later filter may change the route.
 * 11. `upstream_alpn`: announces HTTP in the TLS handshake. Reads the route's cluster, so no later filter may change
 *     this cluster.
 * 12. `router`: forwards. Always last.
 *
 * Extensions are WasmPlugins. The other filters of steps 1 to 3 come from `slots`: other packages build these filters,
 * and this list alone sets their order.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import type { Reader } from "../../reader/reader.ts";
import { hasExtension } from "../extension.ts";
import { wasmFilters } from "../wasm.ts";
import { corsFilter } from "./cors/filter.ts";
import { canPick, endpointPickerFilters } from "./ext_proc/filter.ts";
import { faultFilter } from "./fault/filter.ts";
import { grpcStatsFilter } from "./grpc_stats/filter.ts";
import { grpcWebFilter } from "./grpc_web/filter.ts";
import { onDemandFilter } from "./on_demand/filter.ts";
import { routerFilter, type RouterOptions } from "./router/filter.ts";
import { peerExchange } from "../../telemetry/metrics/peer_exchange.ts";
import { offersPeerTls } from "../../tls/secret_source.ts";
import { statefulSessionFilter } from "./stateful_session/filter.ts";
import { upstreamAlpnFilter } from "./upstream_alpn/filter.ts";

type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;

/** Filters built by other packages, by the step at which each filter runs. */
export interface HttpFilterSlots {
  readonly externalAuthorization?: readonly HttpFilter[];
  readonly authentication?: readonly HttpFilter[];
  readonly authorization?: readonly HttpFilter[];
}

/** Inputs to the choice of a listener's filters. */
export interface HttpFilterOptions {
  readonly direction: "inbound" | "outbound" | "gateway";
  /** Port of the listener, or the workload's port on the inbound side. 0: any. */
  readonly port: number;
  /** Whether some port behind the listener speaks gRPC-Web. */
  readonly grpcWeb: boolean;
  /** Connections inside HBONE: the client's identity is known, but not from the connection. */
  readonly hbone?: true;
  readonly router?: RouterOptions;
  readonly slots?: HttpFilterSlots;
}

/**
 * The HTTP filters of a listener, in order. Filters missing from the proxy's build are omitted. For filters in a slot,
 * the package that fills the slot decides.
 */
export function httpFilters(read: Reader, options: HttpFilterOptions): HttpFilter[] {
  const slots = options.slots ?? {};
  const sessions = options.direction !== "inbound" && read.settings.enablePersistentSessionFilter;
  const side = options.direction === "inbound" ? "server" : "client";
  const picks = options.direction === "gateway" && read.settings.inferencePools && canPick(read);
  const extensions = wasmFilters(read, { side, port: options.port }, "http");
  const exchange = peerExchange(read, side, options.hbone === true);
  const built = (filter: HttpFilter) => hasExtension(read, filter.name ?? "") ? [filter] : [];
  const asks = options.direction === "outbound" && read.property("onDemand");
  return [
    ...(side === "server" ? exchange : []),
    ...(asks ? built(onDemandFilter(read)) : []),
    ...slots.externalAuthorization ?? [],
    ...extensions.authentication,
    ...slots.authentication ?? [],
    ...extensions.authorization,
    ...slots.authorization ?? [],
    ...extensions.others,
    ...(options.grpcWeb ? built(grpcWebFilter()) : []),
    ...built(grpcStatsFilter()),
    ...built(faultFilter()),
    ...built(corsFilter()),
    ...(side === "client" ? exchange : []),
    ...(picks ? endpointPickerFilters() : []),
    ...(sessions ? built(statefulSessionFilter()) : []),
    ...(options.direction !== "inbound" && offersPeerTls(read) ? built(upstreamAlpnFilter()) : []),
    routerFilter(options.router),
  ];
}
