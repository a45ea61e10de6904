/**
 * The inbound listeners of a sidecar, for the ports of its workload.
 *
 *     virtualInbound ─ to the capture port itself   nowhere
 *                    ├ port of a target             its cluster
 *                    └ any other port               passed through
 *     bind_port ─────  a target that is dialled directly (capture mode NONE), a listener of its own
 *     connect_terminate ─ main_internal   the same targets by HBONE, see `hbone.ts`
 *
 * Unless the user binds to an address, the listeners do not depend on the proxy's address, so replicas of a workload
 * share the listeners.
 *
 * @module
 */
import { TrafficDirection } from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import { type Finding, lossOf } from "../../../finding/finding.ts";
import { duration, wrap } from "../../../pb/wellknown.ts";
import type { BuildFinding, Built } from "../../message/built.ts";
import { findingsOnce } from "../../message/finding.ts";
import type { InboundTarget } from "../../inbound/target.ts";
import { unverifiableFindings } from "../../filters/http/jwt_authn/filter.ts";
import { pluginCauses } from "../../filters/wasm.ts";
import type { FileSecret } from "../../message/file_secret.ts";
import type { Reader } from "../../reader/reader.ts";
import { listenerAccessLogs } from "../../telemetry/access_logs.ts";
import { listenAddresses, wildcards } from "../address.ts";
import { downstreamTls } from "../downstream_tls.ts";
import { blackHoleFilter } from "../fallthrough.ts";
import { inboundFilterChains } from "./chain.ts";
import { hboneListeners } from "./hbone.ts";
import { type InboundManagers, NO_MANAGERS } from "./manager.ts";
import {
  capturesInbound,
  closedChain,
  type Passthrough,
  passthrough,
  passthroughChains,
  VIRTUAL_INBOUND,
  type WorkloadPolicies,
  workloadPolicies,
} from "./passthrough.ts";
import { type PeerTls, WITHOUT_IDENTITY } from "./peer_tls.ts";
import { bindsToPort, causesOf, inboundBinds, type InboundConflict, inboundName, servedTargets } from "./port.ts";
import { inboundListenerFilters } from "../inspectors.ts";
import { afterTlsTermination, listenerKind } from "../../service/protocol.ts";
import { connectionsPerEvent } from "../virtual.ts";
import { targetChain, type TargetTls } from "./target_chain.ts";

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;

/** Inbound listeners, and the targets without a place. */
export interface InboundListeners {
  readonly listeners: readonly Built<Listener>[];
  readonly conflicts: readonly InboundConflict[];
  /** Findings about ports closed by a policy. */
  readonly findings: readonly Finding[];
}

/**
 * The inbound listeners for the targets.
 *
 * @param targets In order of precedence. Of two targets on a port, the first has the port.
 * @param others The treatment of all other ports.
 * @param managers Connection managers shared with other workloads.
 */
export function inboundListeners(
  read: Reader,
  targets: readonly InboundTarget[],
  others: Passthrough = passthrough(read),
  managers = NO_MANAGERS,
): InboundListeners {
  const mode = read.property("interceptionMode");
  const { served, conflicts } = servedTargets(read, targets, mode === "NONE");
  const policies = workloadPolicies(read);
  const { peers } = policies;
  const unchained = [...read.tokenPolicy().causes, ...read.telemetryCauses(), ...pluginCauses(read, "server")];
  const captured = {
    chains: [] as FilterChain[],
    causes: new Set<string>([...peers.policy.causes, ...policies.authorization.causes, ...unchained]),
    warnings: [] as BuildFinding[],
    secrets: [...peers.secrets],
  };
  const findings: Finding[] = [...unverifiableFindings(read)];
  for (const manager of managers.values()) findings.push(...manager.findings);
  const bound: Built<Listener>[] = [];
  for (const target of served) {
    const { chains, notes, secrets } = targetChains(read, target, policies, managers);
    const [cause = ""] = causesOf(target);
    const warnings = notes.map((text) => ({ cause, text }));
    if (peers.of(target.port).closed) findings.push(closedFinding(peers, `port ${target.port}`, target));
    else if (listenerKind(target.servicePort.protocol) === "tcp") {
      findings.push(...policies.authorization.bytesFindings(target.port));
    }
    if (bindsToPort(target, mode === "NONE")) {
      const causes = [...causesOf(target), ...peers.policy.causes, ...policies.authorization.causes, ...unchained];
      bound.push(built(boundListener(read, target, chains), causes, warnings, [...peers.secrets, ...secrets]));
      continue;
    }
    captured.chains.push(...chains);
    captured.warnings.push(...warnings);
    captured.secrets.push(...secrets);
    for (const cause of causesOf(target)) captured.causes.add(cause);
  }
  const causes = [...captured.causes];
  const hbone = hboneListeners(read, served);
  const allCauses = [...new Set([...causes, ...served.flatMap(causesOf)])];
  const tunnelled = hbone.listeners.map((message) => built(message, allCauses, [], hbone.secrets));
  findings.push(...hbone.findings);
  if (!capturesInbound(read)) {
    const listeners = [...bound, ...tunnelled];
    return { listeners, conflicts, findings: findingsOnce([...findings, ...policies.authorization.findings()]) };
  }
  const servedPorts = new Set(served.map((target) => target.port));
  const passed = [...peers.policy.ports.keys()].filter((port) => !servedPorts.has(port)).sort((a, b) => a - b);
  for (const port of [0, ...passed]) {
    const name = port === 0 ? "every port without a service" : `port ${port}`;
    if (peers.of(port).closed) findings.push(closedFinding(peers, name));
  }
  const named = passed.flatMap((port) => passthroughChains(read, port, policies));
  const virtual = virtualInboundListener(read, [...others.chains, ...named, ...captured.chains]);
  return {
    listeners: [built(virtual, causes, captured.warnings, captured.secrets), ...bound, ...tunnelled],
    conflicts,
    findings: findingsOnce([...findings, ...others.findings, ...policies.authorization.findings()]),
  };
}

function built(
  message: Listener,
  causes: readonly string[],
  warnings: readonly BuildFinding[],
  secrets: readonly FileSecret[],
): Built<Listener> {
  return { message, causes, ...(warnings.length > 0 ? { warnings } : {}), ...(secrets.length > 0 ? { secrets } : {}) };
}

function closedFinding({ policy }: PeerTls, port: string, target?: InboundTarget): Finding {
  const causes = [...policy.causes, ...(target ? causesOf(target) : [])];
  return lossOf("not-as-written", causes, `${port} ${WITHOUT_IDENTITY}`);
}

interface TargetChains {
  readonly chains: FilterChain[];
  /** Settings of the target that are not in force, one sentence each. */
  readonly notes: readonly string[];
  readonly secrets: readonly FileSecret[];
}

/** The chains of a target. A Sidecar's TLS settings apply if `ENABLE_TLS_ON_SIDECAR_INGRESS` is on. */
function targetChains(
  read: Reader,
  target: InboundTarget,
  { peers, authorization }: WorkloadPolicies,
  managers: InboundManagers,
): TargetChains {
  const { mesh, closed } = peers.of(target.port);
  const none = { notes: [], secrets: [] };
  if (closed) return { ...none, chains: [closedChain(inboundName(read, target), target.port)] };
  const tls = read.settings.enableTlsOnSidecarIngress ? target.tls : undefined;
  const chainsOf = (ends: TargetTls) =>
    inboundFilterChains(read, targetChain(read, target, ends), authorization, managers);
  if (tls === undefined) return { ...none, chains: chainsOf({ mesh }) };
  const where = `port ${target.port}`;
  if (mesh?.mode === "STRICT") {
    const why = `${where}: tls of the Sidecar is not in force, because mutual TLS is STRICT there`;
    return { ...none, chains: chainsOf({ mesh }), notes: [why] };
  }
  // Inside TLS no protocol is recognized: a port without a protocol carries bytes.
  const isHttp = listenerKind(afterTlsTermination(target.servicePort.protocol)) === "http";
  const ended = downstreamTls(read, tls, { content: isHttp ? "http" : "bytes" });
  if ("socket" in ended) {
    const ignored = ended.ignoredCipherSuites.map((suite) => `${where}: cipher suite "${suite}" is unknown; ignored`);
    return { chains: chainsOf({ mesh, tls: ended.socket }), notes: ignored, secrets: ended.secrets };
  }
  const chains = [closedChain(inboundName(read, target), target.port)];
  return { ...none, chains, notes: [`${where} is closed: ${ended.why}`] };
}

function boundListener(read: Reader, target: InboundTarget, chains: FilterChain[]): Listener {
  const addresses = inboundBinds(read, target);
  return listener(read, { name: inboundName(read, target), addresses, port: target.port, chains, captured: false });
}

function virtualInboundListener(read: Reader, others: readonly FilterChain[]): Listener {
  const port = read.mesh().proxyInboundListenPort;
  const blackHole: FilterChain = {
    name: `${VIRTUAL_INBOUND}-blackhole`,
    filter_chain_match: { destination_port: wrap(port) },
    filters: [blackHoleFilter()],
  };
  const chains = [blackHole, ...others];
  return listener(read, { name: VIRTUAL_INBOUND, addresses: wildcards(read), port, chains, captured: true });
}

interface ListenerShape {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly port: number;
  readonly chains: FilterChain[];
  readonly captured: boolean;
}

function listener(read: Reader, { name, addresses, port, chains, captured }: ListenerShape): Listener {
  const mode = read.property("interceptionMode");
  const mesh = read.mesh();
  const logs = listenerAccessLogs(read, "server");
  return {
    name,
    ...listenAddresses(addresses, port),
    traffic_direction: TrafficDirection.INBOUND,
    ...(captured && mode === "TPROXY" ? { transparent: wrap(true) } : {}),
    ...(read.property("inboundExactBalance") ? { connection_balance_config: { exact_balance: {} } } : {}),
    listener_filters: inboundListenerFilters(chains, captured, mode),
    listener_filters_timeout: duration(mesh.protocolDetectionTimeout),
    continue_on_listener_filters_timeout: true,
    filter_chains: chains,
    ...connectionsPerEvent(read),
    ...(logs.length > 0 ? { access_log: logs } : {}),
  };
}
