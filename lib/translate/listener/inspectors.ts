/**
 * Listener filters of inbound listeners, only if a chain needs their results.
 *
 * Inspecting costs time on each connection, and would hang if the server speaks first. So each inspector runs only on
 * ports whose chains match on its result.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { httpInspectorFilter } from "../filters/listener/http_inspector.ts";
import { originalDstFilter } from "../filters/listener/original_dst.ts";
import { originalSrcFilter } from "../filters/listener/original_src.ts";
import { tlsInspectorFilter } from "../filters/listener/tls_inspector.ts";
import type { InterceptionMode } from "../reader/proxy_properties.ts";

type FilterChain = envoy.config.listener.v3.FilterChain;
type ListenerFilter = envoy.config.listener.v3.ListenerFilter;
type ListenerFilterChainMatchPredicate = envoy.config.listener.v3.ListenerFilterChainMatchPredicate;

/**
 * The listener filters for chains, in order of execution: destination, source, TLS, HTTP.
 *
 * @param captured Connections were redirected. False: clients dial the listener itself.
 */
export function inboundListenerFilters(
  chains: readonly FilterChain[],
  captured: boolean,
  mode: InterceptionMode,
): ListenerFilter[] {
  const tls = portsThatNeed(chains, (match) => match.transport_protocol === "tls");
  const http = portsThatNeed(chains, (match) => match.application_protocols?.includes("http/1.1") ?? false);
  return [
    ...(captured ? [originalDstFilter()] : []),
    ...(captured && mode === "TPROXY" ? [originalSrcFilter()] : []),
    ...onPorts(tlsInspectorFilter(), tls),
    // After TLS: encrypted bytes are not looked at.
    ...onPorts(httpInspectorFilter(), http),
  ];
}

/** Ports of a listener. 0 stands for all other ports. */
interface Ports {
  readonly needing: readonly number[];
  readonly others: readonly number[];
}

function portsThatNeed(
  chains: readonly FilterChain[],
  needs: (match: envoy.config.listener.v3.FilterChainMatch) => boolean,
): Ports {
  const byPort = new Map<number, boolean>();
  for (const { filter_chain_match: match = {} } of chains) {
    const port = match.destination_port?.value ?? 0;
    byPort.set(port, (byPort.get(port) ?? false) || needs(match));
  }
  const ports = [...byPort.keys()].sort((a, b) => a - b);
  return { needing: ports.filter((p) => byPort.get(p)), others: ports.filter((p) => !byPort.get(p)) };
}

function onPorts(filter: ListenerFilter, { needing, others }: Ports): ListenerFilter[] {
  if (needing.length === 0) return [];
  if (others.length === 0) return [filter];
  const disabled = needing.includes(0) ? anyPort(others) : { not_match: anyPort(needing) };
  return [{ ...filter, filter_disabled: disabled }];
}

function anyPort(ports: readonly number[]): ListenerFilterChainMatchPredicate {
  const rules = ports.map((port) => ({ destination_port_range: { start: port, end: port + 1 } }));
  const [only, second] = rules;
  return only !== undefined && second === undefined ? only : { or_match: { rules } };
}
