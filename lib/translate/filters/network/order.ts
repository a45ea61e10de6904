/**
 * The network filters of a chain that carries bytes, in order.
 *
 * 1. External authorization, then extensions of phases AUTHN and AUTHZ and authorization: whether the connection is
 *    allowed.
 * 2. Extensions of phase STATS or without a phase: see only allowed connections.
 * 3. `sni_dynamic_forward_proxy`: resolves the server's name, if the destination asks for resolution. A
 *    `set_filter_state` comes before if the rule sets the name. `sni_cluster`: uses the server's name as the name of
 *    the destination.
 * 4. `mongo_proxy`, `mysql_proxy`: statistics of database protocols.
 * 5. `tcp_proxy`: carries the bytes, always last. `redis_proxy` replaces the TCP proxy for Redis. If metrics are
 *    measured, outbound listeners of sidecars share a TCP proxy, and `set_filter_state` before the TCP proxy sets the
 *    destination.
 *
 * Extensions are WasmPlugins. The other filters of step 1 come from `slots`: other packages build these filters, and
 * this list alone sets their order.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import type { Reader } from "../../reader/reader.ts";
import { type TrafficPlace, wasmFilters } from "../wasm.ts";
import { databaseFilters } from "./databases.ts";
import { sniClusterFilter } from "./sni_cluster.ts";
import { resolvingFilters } from "./sni_dynamic_forward_proxy.ts";
import { measuredTcpProxy } from "./measured.ts";
import { hasSharedTcpProxy, sharedTcpProxy } from "./shared_tcp_proxy.ts";
import type { TcpProxyPlan } from "./tcp_proxy.ts";

type Filter = envoy.config.listener.v3.Filter;
type AccessLog = envoy.config.accesslog.v3.AccessLog;

/** Filters built by other packages, by the step at which each filter runs. */
export interface NetworkFilterSlots {
  readonly externalAuthorization?: readonly Filter[];
  readonly authorization?: readonly Filter[];
}

/** The network filters of a chain that carries bytes. */
export function tcpFilters(
  read: Reader,
  plan: TcpProxyPlan,
  accessLogs: readonly AccessLog[],
  place: TrafficPlace,
  slots: NetworkFilterSlots = {},
): Filter[] {
  const databases = databaseFilters(read, plan);
  const extensions = wasmFilters(read, place, "network");
  return [
    ...slots.externalAuthorization ?? [],
    ...extensions.authentication,
    ...extensions.authorization,
    ...slots.authorization ?? [],
    ...extensions.others,
    ...plan.resolves ? resolvingFilters(read, plan.resolves) : [],
    ...plan.byServerName ? [sniClusterFilter()] : [],
    ...databases.before,
    ...databases.instead ? [databases.instead] : lastFilters(read, plan, accessLogs, place),
  ];
}

/** The TCP proxy, with the filters that must precede the proxy. */
function lastFilters(
  read: Reader,
  plan: TcpProxyPlan,
  accessLogs: readonly AccessLog[],
  { side, hbone }: TrafficPlace,
): Filter[] {
  const shared = side === "client" && hasSharedTcpProxy(read) ? sharedTcpProxy(plan) : undefined;
  return shared ?? [measuredTcpProxy(read, asking(read, plan, side), accessLogs, side, hbone)];
}

/** A sidecar that asks for what its workload calls also asks for the clusters of connections. */
function asking(read: Reader, plan: TcpProxyPlan, side: TrafficPlace["side"]): TcpProxyPlan {
  return side === "client" && read.property("onDemand") ? { ...plan, asksWithin: read.settings.askTimeoutMs } : plan;
}
