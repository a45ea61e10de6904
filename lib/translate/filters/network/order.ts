/**
 * The network filters of a chain that carries bytes, in the one order in which they run.
 *
 * 1. External authorization, then extensions of phases AUTHN and AUTHZ and authorization: whether the connection is
 *    allowed.
 * 2. Extensions of phase STATS and of no phase: only connections that are allowed.
 * 3. `sni_dynamic_forward_proxy`: resolves the name of the server, where the destination wants that, after a
 *    `set_filter_state` with a name that the rule says; `sni_cluster`: takes it for
 *    the name of the destination.
 * 4. `mongo_proxy`, `mysql_proxy`: statistics of databases' protocols.
 * 5. `tcp_proxy`: carries the bytes; always last. For Redis `redis_proxy` in its place. Outbound listeners of sidecars
 *    share one where metrics are measured, and `set_filter_state` before it names the destination.
 *
 * Extensions are WasmPlugins. The other filters of step 1 come from `slots`: the packages that build these filters hand them in, this list alone says where they run.
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

/** Filters built elsewhere, by the step of the order at which they run. */
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

/** The TCP proxy, and the filters that it needs before it. */
function lastFilters(
  read: Reader,
  plan: TcpProxyPlan,
  accessLogs: readonly AccessLog[],
  { side, hbone }: TrafficPlace,
): Filter[] {
  const shared = side === "client" && hasSharedTcpProxy(read) ? sharedTcpProxy(plan) : undefined;
  return shared ?? [measuredTcpProxy(read, plan, accessLogs, side, hbone)];
}
