/**
 * The HTTP filters of every listener, in the one order in which they run.
 *
 * A request passes them from top to bottom, an answer from bottom to top. Why this order:
 *
 * 0. On the inbound side the client's statement is read first: metrics of refused requests name the client, too.
 * 1. External authorization (`CUSTOM` policies): may refuse before anything else is spent on a request.
 * 2. Extensions of phase AUTHN, then end-user authentication: the identity of the caller.
 * 3. Extensions of phase AUTHZ, then authorization: the caller's permission. Needs the identity from above.
 * 4. Extensions of phase STATS and of no phase: see only requests that were let in.
 * 5. `grpc_web`: from here on a browser's call is plain gRPC, so that the next one counts it.
 * 6. `grpc_stats`: counts the call as it was meant, also when a fault ends it.
 * 7. `fault`, then `cors`: act by the route; a fault may end the request.
 * 8. Elsewhere the proxy states here which client it is, to the cluster that the request really goes to.
 * 9. `stateful_session`: picks the endpoint, so nothing after it may change the route.
 * 10. `upstream_alpn`: says HTTP in the TLS handshake; reads the cluster of the route, so nothing after it may change that.
 * 11. `router`: forwards; always last.
 *
 * Extensions are WasmPlugins. The other filters of steps 1-3 come from `slots`: the packages that build these filters hand them in, this list alone says where they run.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import type { Reader } from "../../reader/reader.ts";
import { hasExtension } from "../extension.ts";
import { wasmFilters } from "../wasm.ts";
import { corsFilter } from "./cors/filter.ts";
import { faultFilter } from "./fault/filter.ts";
import { grpcStatsFilter } from "./grpc_stats/filter.ts";
import { grpcWebFilter } from "./grpc_web/filter.ts";
import { routerFilter, type RouterOptions } from "./router/filter.ts";
import { peerExchange } from "../../telemetry/metrics/peer_exchange.ts";
import { offersPeerTls } from "../../tls/secret_source.ts";
import { statefulSessionFilter } from "./stateful_session/filter.ts";
import { upstreamAlpnFilter } from "./upstream_alpn/filter.ts";

type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;

/** Filters built elsewhere, by the step of the order at which they run. */
export interface HttpFilterSlots {
  readonly externalAuthorization?: readonly HttpFilter[];
  readonly authentication?: readonly HttpFilter[];
  readonly authorization?: readonly HttpFilter[];
}

/** Inputs to the choice of a listener's filters. */
export interface HttpFilterOptions {
  readonly direction: "inbound" | "outbound" | "gateway";
  /** Of the listener, inbound of the workload; 0: any. */
  readonly port: number;
  /** Some port behind the listener speaks gRPC-Web. */
  readonly grpcWeb: boolean;
  /** Inside of HBONE: the client is known, though not by the connection. */
  readonly hbone?: true;
  readonly router?: RouterOptions;
  readonly slots?: HttpFilterSlots;
}

/**
 * The HTTP filters of one listener, in order. Those that the proxy's build lacks are left out; the package that fills
 * a slot makes that decision for its own filters.
 */
export function httpFilters(read: Reader, options: HttpFilterOptions): HttpFilter[] {
  const slots = options.slots ?? {};
  const sessions = options.direction !== "inbound" && read.settings.enablePersistentSessionFilter;
  const side = options.direction === "inbound" ? "server" : "client";
  const extensions = wasmFilters(read, { side, port: options.port }, "http");
  const exchange = peerExchange(read, side, options.hbone === true);
  const built = (filter: HttpFilter) => hasExtension(read, filter.name ?? "") ? [filter] : [];
  return [
    ...(side === "server" ? exchange : []),
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
    ...(sessions ? built(statefulSessionFilter()) : []),
    ...(options.direction !== "inbound" && offersPeerTls(read) ? built(upstreamAlpnFilter()) : []),
    routerFilter(options.router),
  ];
}
