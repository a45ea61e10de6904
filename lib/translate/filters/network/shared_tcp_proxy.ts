/**
 * One TCP proxy for all outbound listeners of a sidecar, if metrics are measured. The TCP proxy arrives by ECDS, and a
 * preceding filter sets the destination of each connection.
 *
 *     listener ─> set_filter_state (cluster) ─> name of the shared TCP proxy ─> its access logs and metrics, once
 *
 * Without sharing, each listener would hold 15 kB of metrics loggers.
 *
 * @module
 */
import { ApiVersion } from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import { any, TYPE_URL_PREFIX } from "../../../pb/codec.ts";
import { duration } from "../../../pb/wellknown.ts";
import { BLACK_HOLE } from "../../cluster/static.ts";
import type { Built } from "../../message/built.ts";
import { aspect } from "../../reader/aspect.ts";
import type { Reader } from "../../reader/reader.ts";
import { accessLogs } from "../../telemetry/access_logs.ts";
import { measuredMetrics } from "../../telemetry/metrics/stats_logger.ts";
import { hasExtension } from "../extension.ts";
import { measuredTcpProxy } from "./measured.ts";
import { TCP_PROXY, type TcpProxyPlan } from "./tcp_proxy.ts";

type Filter = envoy.config.listener.v3.Filter;

/** Name of the shared TCP proxy's configuration. */
const SHARED_TCP_PROXY = "extensions.mesh.io/tcp_proxy/client";

/** Keys of filter state that Envoy's TCP proxy reads. */
const CLUSTER_STATE = "envoy.tcp_proxy.cluster";
const IDLE_STATE = "envoy.tcp_proxy.per_connection_idle_timeout_ms";

const SET_STATE = "envoy.filters.network.set_filter_state";

/**
 * Whether outbound listeners have a shared TCP proxy: on sidecars with measured metrics, unless a patch applies to
 * network filters. Such patches look for a TCP proxy in each chain.
 */
export function hasSharedTcpProxy(read: Reader): boolean {
  return measuredMetrics(read, "client") !== undefined && !aspect(read, "gateways") && hasExtension(read, SET_STATE) &&
    !read.patches("listeners").some(({ applyTo }) => applyTo === "NETWORK_FILTER");
}

/** The filters of a chain with the plan. Undefined when the chain needs a separate TCP proxy. */
export function sharedTcpProxy(plan: TcpProxyPlan): Filter[] | undefined {
  const [cluster, ...more] = plan.clusters;
  const { statPrefix, protocol: _, clusters: __, idleTimeout, ...others } = plan;
  if (cluster === undefined || more.length > 0 || Object.keys(others).length > 0) return undefined;
  // Filter state cannot express a user's own statistics prefix, or 0 (no timeout).
  if (statPrefix !== cluster.name || idleTimeout === 0) return undefined;
  const states = { [CLUSTER_STATE]: cluster.name, ...(idleTimeout ? { [IDLE_STATE]: `${idleTimeout}` } : {}) };
  const config: envoy.extensions.filters.network.set_filter_state.v3.Config = {
    on_new_connection: Object.entries(states).map(([object_key, value]) => ({
      object_key,
      format_string: { text_format_source: { inline_string: value.replaceAll("%", "%%") } },
    })),
  };
  return [
    { name: SET_STATE, typed_config: any("envoy.extensions.filters.network.set_filter_state.v3.Config", config) },
    {
      name: SHARED_TCP_PROXY,
      config_discovery: {
        config_source: { ads: {}, resource_api_version: ApiVersion.V3, initial_fetch_timeout: duration(0) },
        type_urls: [TYPE_URL_PREFIX + TCP_PROXY],
      },
    },
  ];
}

/** The configuration of the shared TCP proxy. Empty when nothing is measured. */
export function sharedTcpProxies(read: Reader): Built<envoy.config.core.v3.TypedExtensionConfig>[] {
  if (!hasSharedTcpProxy(read)) return [];
  // The cluster is for connections without a destination, which do not occur.
  const asks = read.property("onDemand") ? { asksWithin: read.settings.askTimeoutMs } : {};
  const plan = { statPrefix: "outbound", clusters: [{ name: BLACK_HOLE, weight: 1 }], ...asks };
  const { typed_config } = measuredTcpProxy(read, plan, accessLogs(read, "client", "tcp"), "client");
  return typed_config === undefined ? [] : [{ message: { name: SHARED_TCP_PROXY, typed_config }, causes: [] }];
}
