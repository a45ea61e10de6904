/**
 * A listener behind HBONE: its chains see the address of the CONNECT as the dialled address.
 *
 * @module
 */
import { TrafficDirection } from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import { duration } from "../../../pb/wellknown.ts";
import { MAIN_INTERNAL } from "../../hbone/names.ts";
import type { Reader } from "../../reader/reader.ts";
import { listenerAccessLogs } from "../../telemetry/access_logs.ts";
import { inboundListenerFilters } from "../inspectors.ts";

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;

/** @param chains At least one: Envoy refuses a listener without chains. */
export function mainInternalListener(read: Reader, chains: FilterChain[], name: string = MAIN_INTERNAL): Listener {
  const logs = listenerAccessLogs(read, "server");
  return {
    name,
    internal_listener: {},
    traffic_direction: TrafficDirection.INBOUND,
    // The addresses come from the CONNECT. The client's address is never a source address, not even with TPROXY.
    listener_filters: inboundListenerFilters(chains, true, "REDIRECT"),
    listener_filters_timeout: duration(read.mesh().protocolDetectionTimeout),
    continue_on_listener_filters_timeout: true,
    filter_chains: chains,
    ...(logs.length > 0 ? { access_log: logs } : {}),
  };
}
