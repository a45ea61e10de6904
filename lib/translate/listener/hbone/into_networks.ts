/**
 * The internal listeners for connections by HBONE into other networks. The first listener makes HBONE to the workload, and
 * hands it to the second, which makes HBONE to the gateway of the network.
 *
 *     cluster of a service ── inner_connect_originate ── outer_connect_originate ──> gateway of the network
 *                              CONNECT HOST:PORT          CONNECT HOST:PORT
 *
 * @module
 */
import { FilterStateValue_SharedWithUpstream as Shared } from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import { tcpProxyFilter } from "../../filters/network/tcp_proxy.ts";
import { sendsHbone } from "../../hbone/ability.ts";
import {
  DIALLED_GATEWAY,
  DIALLED_INSTEAD,
  DIALLED_METADATA,
  DIALLED_SERVICE,
  FAR_SERVICE,
  INNER_ORIGINATE,
  OUTER_ORIGINATE,
} from "../../hbone/names.ts";
import type { Reader } from "../../reader/reader.ts";
import { carrierAccessLogs, listenerAccessLogs } from "../../telemetry/access_logs.ts";
import { expectedNames, filterStateOf } from "./originate.ts";

type Filter = envoy.config.listener.v3.Filter;
type Listener = envoy.config.listener.v3.Listener;

/** The listeners. Empty for a proxy that makes no connections by HBONE into other networks. */
export function intoNetworksListeners(read: Reader): readonly Listener[] {
  if (!read.settings.multiNetwork || !sendsHbone(read)) return [];
  const logs = listenerAccessLogs(read, "client");
  const listener = (name: string, filters: Filter[]): Listener => ({
    ...{ name, internal_listener: {}, filter_chains: [{ filters }] },
    ...(logs.length > 0 ? { access_log: logs } : {}),
  });
  return [
    listener(INNER_ORIGINATE, [
      filterStateOf([
        expectedNames(),
        handedOn(FAR_SERVICE, DIALLED_SERVICE, "envoy.hashable_string"),
        handedOn(DIALLED_INSTEAD, DIALLED_GATEWAY, DIALLED_INSTEAD),
      ]),
      tunnel(read, INNER_ORIGINATE),
    ]),
    listener(OUTER_ORIGINATE, [tunnel(read, OUTER_ORIGINATE)]),
  ];
}

/** A text of the endpoint's metadata, for the second listener. */
function handedOn(
  object_key: string,
  field: string,
  factory_key: string,
): envoy.extensions.filters.common.set_filter_state.v3.FilterStateValue {
  return {
    ...{ object_key, factory_key, shared_with_upstream: Shared.ONCE },
    format_string: { text_format_source: { inline_string: `%DYNAMIC_METADATA(${DIALLED_METADATA}:${field})%` } },
  };
}

function tunnel(read: Reader, name: string): Filter {
  const logs = carrierAccessLogs(read, "client", "tcp", { response_flag_filter: { flags: ["UF"] } });
  return tcpProxyFilter({
    statPrefix: name,
    clusters: [{ name, weight: 1 }],
    idleTimeout: 0,
    tunnel: { hostname: `%FILTER_STATE(${FAR_SERVICE}:PLAIN)%`, post: false },
  }, logs);
}
