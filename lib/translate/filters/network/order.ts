/**
 * The network filters of a chain that carries bytes, in the one order in which they run.
 *
 * 1. External authorization, then extensions and authorization: whether the connection is allowed.
 * 2. Telemetry: only connections that are allowed.
 * 3. `sni_dynamic_forward_proxy`: resolves the server name, where the destination wants that.
 * 4. `tcp_proxy`: carries the bytes; always last.
 *
 * Steps 1 and 2 come from `slots`: the packages that build these filters hand them in, this list alone says where they run.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import type { Reader } from "../../reader/reader.ts";
import { hasExtension } from "../extension.ts";
import { sniDynamicForwardProxyFilter } from "./sni_dynamic_forward_proxy.ts";
import { tcpProxyFilter, type TcpProxyPlan } from "./tcp_proxy.ts";

type Filter = envoy.config.listener.v3.Filter;

/** Filters built elsewhere, by the step of the order at which they run. */
export interface NetworkFilterSlots {
  readonly externalAuthorization?: readonly Filter[];
  readonly extensions?: readonly Filter[];
  readonly authorization?: readonly Filter[];
  readonly telemetry?: readonly Filter[];
}

/** The network filters of a chain that carries bytes. */
export function tcpFilters(
  read: Reader,
  plan: TcpProxyPlan,
  accessLogs: readonly envoy.config.accesslog.v3.AccessLog[],
  slots: NetworkFilterSlots = {},
): Filter[] {
  const resolver = plan.resolveServerName === undefined
    ? []
    : [sniDynamicForwardProxyFilter(read, plan.resolveServerName)];
  return [
    ...slots.externalAuthorization ?? [],
    ...slots.extensions ?? [],
    ...slots.authorization ?? [],
    ...slots.telemetry ?? [],
    ...resolver.filter((filter) => hasExtension(read, filter.name ?? "")),
    tcpProxyFilter(plan, accessLogs),
  ];
}
