/**
 * The ports of a workload for connections that come by HBONE: the listener that ends these, and an internal listener
 * with the chains of all targets.
 *
 *     connect_terminate ── main_internal ─ port of a target     its cluster
 *                                        ├ ports of the proxy   nowhere
 *                                        └ any other port       passed through
 *
 * Mutual TLS has ended before, so that the chains are those of plain connections, in every mode of the port; their
 * policies read the client's identity from filter state.
 *
 * @module
 */
import { TrafficDirection } from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import { type Finding, lossOf } from "../../../finding/finding.ts";
import { duration } from "../../../pb/wellknown.ts";
import { Authorization } from "../../authorization/authorization.ts";
import { hboneListening } from "../../hbone/ability.ts";
import { HBONE_PORT, MAIN_INTERNAL } from "../../hbone/names.ts";
import type { InboundTarget } from "../../inbound/target.ts";
import type { FileSecret } from "../../message/file_secret.ts";
import type { Reader } from "../../reader/reader.ts";
import { listenerAccessLogs } from "../../telemetry/access_logs.ts";
import { secretsOf } from "../../tls/secret_source.ts";
import { connectTerminateListener } from "../hbone/terminate.ts";
import { inboundListenerFilters } from "../inspectors.ts";
import { inboundFilterChains } from "./chain.ts";
import { closedChain, PASSED } from "./passthrough.ts";
import { targetChain } from "./target_chain.ts";

type Listener = envoy.config.listener.v3.Listener;

/** The listeners, none where the proxy takes no connections by HBONE. */
export interface HboneListeners {
  readonly listeners: readonly Listener[];
  readonly secrets: readonly FileSecret[];
  readonly findings: readonly Finding[];
}

/** @param served Targets that have a port of their own. */
export function hboneListeners(read: Reader, served: readonly InboundTarget[]): HboneListeners {
  const listening = hboneListening(read);
  if (!listening.asked) return { listeners: [], secrets: [], findings: [] };
  if ("why" in listening) {
    const text = `connections by HBONE are not taken, which ENABLE_HBONE of the proxy asks for: ${listening.why}`;
    return { listeners: [], secrets: [], findings: [lossOf("not-as-written", [], text)] };
  }
  const { identity } = listening;
  return {
    listeners: [connectTerminateListener(read, identity), mainInternalListener(read, served)],
    secrets: secretsOf([identity.certificate, identity.authorities]),
    findings: [],
  };
}

function mainInternalListener(read: Reader, served: readonly InboundTarget[]): Listener {
  const authorization = new Authorization(read, { hbone: true });
  const own = [...new Set([HBONE_PORT, read.mesh().proxyInboundListenPort])].filter((port) => port > 0);
  const hbone = { mesh: undefined, hbone: true } as const;
  const chains = [
    ...own.map((port) => closedChain(`${MAIN_INTERNAL}-blackhole-${port}`, port)),
    ...inboundFilterChains(read, { ...PASSED, hbone: true }, authorization),
    ...served.filter(({ port }) => !own.includes(port))
      .flatMap((target) => inboundFilterChains(read, targetChain(read, target, hbone), authorization)),
  ];
  const logs = listenerAccessLogs(read, "server");
  return {
    name: MAIN_INTERNAL,
    internal_listener: {},
    traffic_direction: TrafficDirection.INBOUND,
    // The addresses are those of the CONNECT; the client's is never used as a source, not even where TPROXY would.
    listener_filters: inboundListenerFilters(chains, true, "REDIRECT"),
    listener_filters_timeout: duration(read.mesh().protocolDetectionTimeout),
    continue_on_listener_filters_timeout: true,
    filter_chains: chains,
    ...(logs.length > 0 ? { access_log: logs } : {}),
  };
}
