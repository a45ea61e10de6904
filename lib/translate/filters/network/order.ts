/**
 * The network filters of a chain that carries bytes, in the one order in which they run.
 *
 * 1. External authorization, then extensions of phases AUTHN and AUTHZ and authorization: whether the connection is
 *    allowed.
 * 2. Extensions of phase STATS and of no phase: only connections that are allowed.
 * 3. `sni_dynamic_forward_proxy`: resolves the server name, where the destination wants that; `sni_cluster`: takes it for
 *    the name of the destination.
 * 4. `mongo_proxy`, `mysql_proxy`: statistics of what databases speak.
 * 5. `tcp_proxy`: carries the bytes; always last. For Redis `redis_proxy` in its place.
 *
 * Extensions are WasmPlugins. The other filters of step 1 come from `slots`: the packages that build these filters hand them in, this list alone says where they run.
 *
 * @module
 */
import { AccessLogType } from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import type { Reader } from "../../reader/reader.ts";
import { metricsLogs } from "../../telemetry/metrics/stats_logger.ts";
import { hasExtension } from "../extension.ts";
import { type TrafficPlace, wasmFilters } from "../wasm.ts";
import { databaseFilters } from "./databases.ts";
import { sniClusterFilter } from "./sni_cluster.ts";
import { sniDynamicForwardProxyFilter } from "./sni_dynamic_forward_proxy.ts";
import { tcpProxyFilter, type TcpProxyPlan } from "./tcp_proxy.ts";

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
  const resolver = plan.resolveServerName === undefined
    ? []
    : [sniDynamicForwardProxyFilter(read, plan.resolveServerName)];
  const measured = metricsLogs(read, { side: place.side, place: "tcp", trustsHost: false });
  const logs = measured.length > 0 ? [...accessLogs.map(notConnected), ...measured] : accessLogs;
  const databases = databaseFilters(read, plan);
  const extensions = wasmFilters(read, place, "network");
  return [
    ...slots.externalAuthorization ?? [],
    ...extensions.authentication,
    ...extensions.authorization,
    ...slots.authorization ?? [],
    ...extensions.others,
    ...resolver.filter((filter) => hasExtension(read, filter.name ?? "")),
    ...plan.byServerName ? [sniClusterFilter()] : [],
    ...databases.before,
    databases.instead ?? tcpProxyFilter(measured.length > 0 ? { ...plan, logsConnected: true } : plan, logs),
  ];
}

/** Metrics have the log written when a connection is made as well; others hear of its end alone, as without them. */
function notConnected(log: AccessLog): AccessLog {
  const atEnd = { log_type_filter: { types: [AccessLogType.TcpUpstreamConnected], exclude: true } };
  return { ...log, filter: log.filter ? { and_filter: { filters: [atEnd, log.filter] } } : atEnd };
}
