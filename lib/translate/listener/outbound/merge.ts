/**
 * An outbound listener from the contributions of all hosts with the same address and port.
 *
 * @module
 */
import { TrafficDirection } from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import { duration, wrap } from "../../../pb/wellknown.ts";
import { httpInspectorFilter } from "../../filters/listener/http_inspector.ts";
import { tlsInspectorFilter } from "../../filters/listener/tls_inspector.ts";
import { tcpFilters } from "../../filters/network/order.ts";
import { pluginCauses } from "../../filters/wasm.ts";
import { objectMetadata } from "../../message/object_metadata.ts";
import { joinedParts } from "../../message/parts.ts";
import type { Reader } from "../../reader/reader.ts";
import { accessLogs } from "../../telemetry/access_logs.ts";
import { cidrRange, listenAddresses, wildcards } from "../address.ts";
import type { ChainMatch } from "../chain_match_owners.ts";
import { fallthroughFilters } from "../fallthrough.ts";
import { requestFilters } from "../http_connection_manager.ts";
import { type HttpSide, joinContributions, type JoinedListener, type PlacedChain } from "./join.ts";
import type { ConflictReason, ListenerConflict } from "../conflict.ts";
import { compareContributions, type ListenerContribution, STATIC_PORTS } from "../contribution.ts";
import { httpAlpn } from "../../service/protocol.ts";

type FilterChain = envoy.config.listener.v3.FilterChain;

export interface MergedOutboundListener {
  /** Absent: nothing may listen there (see `conflicts`), or there are no contributions. */
  readonly listener?: envoy.config.listener.v3.Listener;
  /** Keys of the configuration objects behind the listener, the first contribution's first. */
  readonly causes: readonly string[];
  /** Parts of virtual services that are in the listener. */
  readonly parts: readonly string[];
  readonly conflicts: readonly ListenerConflict[];
}

/**
 * Merges the contributions of a listener.
 *
 * @param key Name of the listener.
 * @param contributions All contributions with the key, in any order.
 */
export function mergeOutboundListener(
  read: Reader,
  key: string,
  contributions: readonly ListenerContribution[],
): MergedOutboundListener {
  const sorted = [...contributions].sort(compareContributions);
  const [first] = sorted;
  if (first === undefined) return { ...NOTHING, conflicts: [] };
  const refused = whyRefused(read, first);
  if (refused) return { ...NOTHING, conflicts: sorted.map((contribution) => conflict(contribution, refused)) };
  const joined = joinContributions(sorted);
  if (joined === undefined) return { ...NOTHING, conflicts: [] };
  const causes = [...joined.causes, ...pluginCauses(read, "client")];
  const parts = joinedParts(joined.chains.map(({ chain }) => chain.parts ?? []));
  return { listener: listener(read, key, joined), causes, parts, conflicts: joined.conflicts };
}

const NOTHING = { causes: [], parts: [] } as const;

/** Why no outbound listener may have the address. */
function whyRefused(read: Reader, contribution: ListenerContribution): ConflictReason | undefined {
  const { proxyListenPort, proxyInboundListenPort } = read.mesh();
  if (contribution.binds[0] === wildcards(read)[0]) {
    const reserved = [...STATIC_PORTS, proxyListenPort, proxyInboundListenPort];
    if (reserved.includes(contribution.port)) return "reservedPort";
  }
  const privileged = contribution.bindToPort && contribution.port > 0 && contribution.port < 1024;
  return privileged && read.property("isUnprivileged") ? "privilegedPort" : undefined;
}

function conflict(contribution: ListenerContribution, reason: ConflictReason): ListenerConflict {
  return {
    listener: contribution.key,
    reason,
    accepted: "the proxy",
    rejected: contribution.hostname,
    rejectedProtocol: contribution.protocol,
    causes: contribution.causes,
  };
}

function listener(read: Reader, name: string, joined: JoinedListener): envoy.config.listener.v3.Listener {
  const { first, http } = joined;
  const chains = joined.chains.map((placed) => tcpChain(read, placed, first.port));
  if (http) chains.unshift(httpChain(read, name, http, first.port));
  const matched = chains.filter((chain) => chain.filter_chain_match !== undefined);
  const rest = chains.find((chain) => chain.filter_chain_match === undefined);
  const sniffs = http?.sniffed ?? false;
  const serverNames = joined.chains.some(({ match }) => match.serverNames.length > 0);
  return {
    name,
    ...listenAddresses(first.binds, first.port),
    traffic_direction: TrafficDirection.OUTBOUND,
    ...(first.bindToPort ? {} : { bind_to_port: wrap(false) }),
    ...(read.property("outboundExactBalance") ? { connection_balance_config: { exact_balance: {} } } : {}),
    listener_filters: [
      ...(serverNames ? [tlsInspectorFilter()] : []),
      ...(sniffs ? [httpInspectorFilter()] : []),
    ],
    // If the server speaks first, client and listener would both wait for bytes: the mesh's timeout limits the wait.
    listener_filters_timeout: duration(sniffs ? read.mesh().protocolDetectionTimeout : 0),
    continue_on_listener_filters_timeout: true,
    ...placeChains(read, matched, rest),
  };
}

/**
 * A chain that matches everything is the default chain. Without such a chain, unknown connections follow the traffic
 * policy.
 */
function placeChains(
  read: Reader,
  matched: FilterChain[],
  rest: FilterChain | undefined,
): Pick<envoy.config.listener.v3.Listener, "filter_chains" | "default_filter_chain"> {
  if (rest && matched.length === 0) return { filter_chains: [rest] };
  const unknown = { name: "PassthroughFilterChain", filters: fallthroughFilters(read) };
  return { filter_chains: matched, default_filter_chain: rest ?? unknown };
}

function httpChain(read: Reader, name: string, http: HttpSide, port: number): FilterChain {
  const filters = requestFilters(read, {
    direction: "outbound",
    port,
    statPrefix: `outbound_${name}`,
    routes: http.routeName,
    grpcWeb: http.grpcWeb,
  });
  if (!http.sniffed) return { filters };
  const http10 = read.settings.enableHttp10 || read.property("http10");
  const match = { transport_protocol: "raw_buffer", application_protocols: httpAlpn(http10) };
  return { filter_chain_match: match, filters };
}

function tcpChain(read: Reader, { chain, match }: PlacedChain, port: number): FilterChain {
  const idleTimeout = chain.proxy.idleTimeout ?? read.property("idleTimeout");
  const limited = chain.proxy.idleTimeout !== undefined || idleTimeout > 0;
  const plan = limited ? { ...chain.proxy, idleTimeout } : chain.proxy;
  return {
    ...filterChainMatch(match),
    filters: tcpFilters(read, plan, accessLogs(read, "client", "tcp"), { side: "client", port }),
    ...(chain.virtualService ? { metadata: objectMetadata(`VirtualService/${chain.virtualService}`) } : {}),
  };
}

function filterChainMatch({ ranges, serverNames }: ChainMatch): Pick<FilterChain, "filter_chain_match"> {
  if (ranges.length === 0 && serverNames.length === 0) return {};
  return {
    filter_chain_match: {
      ...(ranges.length > 0 ? { prefix_ranges: ranges.map(cidrRange) } : {}),
      ...(serverNames.length > 0 ? { server_names: [...serverNames] } : {}),
    },
  };
}
