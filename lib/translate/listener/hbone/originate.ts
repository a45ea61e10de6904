/**
 * The internal listener for connections made by HBONE. Each connection becomes a CONNECT with the dialled address, and
 * many CONNECTs share one connection to a machine.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";
import { originalDstFilter } from "../../filters/listener/original_dst.ts";
import { tcpProxyFilter } from "../../filters/network/tcp_proxy.ts";
import { sendsHbone } from "../../hbone/ability.ts";
import { CONNECT_ORIGINATE, EXPECTED_NAMES, HBONE_METADATA } from "../../hbone/names.ts";
import type { Reader } from "../../reader/reader.ts";
import { carrierAccessLogs, listenerAccessLogs } from "../../telemetry/access_logs.ts";

type Filter = envoy.config.listener.v3.Filter;
type FilterStateValue = envoy.extensions.filters.common.set_filter_state.v3.FilterStateValue;

/** The listener. Undefined for a proxy that makes no connections by HBONE. */
export function connectOriginateListener(read: Reader): envoy.config.listener.v3.Listener | undefined {
  if (!sendsHbone(read)) return undefined;
  const logs = listenerAccessLogs(read, "client");
  return {
    name: CONNECT_ORIGINATE,
    internal_listener: {},
    listener_filters: [originalDstFilter()],
    filter_chains: [{ filters: [filterStateOf([expectedNames()]), tunnel(read)] }],
    ...(logs.length > 0 ? { access_log: logs } : {}),
  };
}

/** The server must have one of the names in the metadata of the service's cluster. */
export function expectedNames(): FilterStateValue {
  const { namespace, key } = HBONE_METADATA;
  return {
    object_key: EXPECTED_NAMES,
    format_string: {
      text_format_source: { inline_string: `%DYNAMIC_METADATA(${namespace}:${key})%` },
      omit_empty_values: true,
    },
    skip_if_empty: true,
  };
}

/** A filter that stores values at the beginning of a connection. */
export function filterStateOf(on_new_connection: FilterStateValue[]): Filter {
  const config: envoy.extensions.filters.network.set_filter_state.v3.Config = { on_new_connection };
  return {
    name: "envoy.filters.network.set_filter_state",
    typed_config: any("envoy.extensions.filters.network.set_filter_state.v3.Config", config),
  };
}

/**
 * The inner connection is logged by its own listener and ends by its own idle timeout. Here only a failed connect is
 * logged, because only this listener knows the reason.
 */
function tunnel(read: Reader): Filter {
  const logs = carrierAccessLogs(read, "client", "tcp", { response_flag_filter: { flags: ["UF"] } });
  return tcpProxyFilter({
    statPrefix: CONNECT_ORIGINATE,
    clusters: [{ name: CONNECT_ORIGINATE, weight: 1 }],
    idleTimeout: 0,
    tunnel: { hostname: "%DOWNSTREAM_LOCAL_ADDRESS%", post: false },
  }, logs);
}
