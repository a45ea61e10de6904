/**
 * The inbound listeners of a sidecar: what its workload serves.
 *
 *     virtualInbound ─ to the capture port itself   nowhere
 *                    ├ port of a target             its cluster
 *                    └ any other port               passed through
 *     bind_port ─────  a target that is dialled directly (capture mode NONE), a listener of its own
 *
 * Nothing here depends on the address of the proxy unless the user binds to it, so replicas of a workload share it.
 *
 * @module
 */
import { TrafficDirection } from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import { type Finding, lossOf } from "../../../config/finding/finding.ts";
import { duration, wrap } from "../../../pb/wellknown.ts";
import { Authorization } from "../../authorization/authorization.ts";
import type { Built, BuiltWarning } from "../../message/built.ts";
import { INBOUND_PASSTHROUGH } from "../../cluster/static.ts";
import { inboundClusterName, type InboundTarget } from "../../inbound/target.ts";
import { unverifiableFindings } from "../../filters/http/jwt_authn/filter.ts";
import type { FileSecret } from "../../message/file_secret.ts";
import { objectMetadata } from "../../message/object_metadata.ts";
import type { Reader } from "../../reader/reader.ts";
import { inboundRouteConfiguration } from "../../route/configuration.ts";
import { listenerAccessLogs } from "../access_log.ts";
import { listenAddresses, wildcards } from "../address.ts";
import { downstreamTls } from "../downstream_tls.ts";
import { blackHoleFilter } from "../fallthrough.ts";
import { type InboundChain, inboundFilterChains, inboundStatPrefix, type MeshTls } from "./chain.ts";
import { type PeerTls, peerTls, WITHOUT_IDENTITY } from "./peer_tls.ts";
import {
  bindsToPort,
  causesOf,
  hostOf,
  inboundBinds,
  type InboundConflict,
  inboundName,
  servedTargets,
} from "./port.ts";
import { inboundListenerFilters } from "../inspectors.ts";
import { afterTlsTermination, listenerKind } from "../../service/protocol.ts";
import { connectionsPerEvent } from "../virtual.ts";

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;

/** Name of the listener that inbound connections are redirected to. */
export const VIRTUAL_INBOUND = "virtualInbound";

/** Stands for the ports that no service names. */
const ANY_PORT: InboundTarget = {
  port: 0,
  servicePort: { name: VIRTUAL_INBOUND, port: 0, protocol: "Unsupported" },
  captureMode: "DEFAULT",
  fromSidecarIngress: false,
};

/** Inbound listeners, and the targets that found no place in them. */
export interface InboundListeners {
  readonly listeners: readonly Built<Listener>[];
  readonly conflicts: readonly InboundConflict[];
  /** Ports that are closed because of a policy. */
  readonly findings: readonly Finding[];
}

/**
 * The inbound listeners for these targets.
 *
 * @param targets In order of precedence; the first of two on one port has it.
 */
export function inboundListeners(read: Reader, targets: readonly InboundTarget[]): InboundListeners {
  const mode = read.property("interceptionMode");
  const { served, conflicts } = servedTargets(read, targets, mode === "NONE");
  const peers = peerTls(read);
  const policies: WorkloadPolicies = { peers, authorization: new Authorization(read) };
  const tokens = read.tokenPolicy().causes;
  const captured = {
    chains: [] as FilterChain[],
    causes: new Set<string>([...peers.policy.causes, ...policies.authorization.causes, ...tokens]),
    warnings: [] as BuiltWarning[],
    secrets: [...peers.secrets],
  };
  const findings: Finding[] = [...unverifiableFindings(read)];
  const bound: Built<Listener>[] = [];
  for (const target of served) {
    const { chains, notes, secrets } = targetChains(read, target, policies);
    const [cause = ""] = causesOf(target);
    const warnings = notes.map((text) => ({ cause, text }));
    if (peers.of(target.port).closed) findings.push(closedFinding(peers, `port ${target.port}`, target));
    else if (listenerKind(target.servicePort.protocol) === "tcp") {
      findings.push(...policies.authorization.bytesFindings(`port ${target.port}`));
    }
    if (bindsToPort(target, mode === "NONE")) {
      const causes = [...causesOf(target), ...peers.policy.causes, ...policies.authorization.causes, ...tokens];
      bound.push(built(boundListener(read, target, chains), causes, warnings, [...peers.secrets, ...secrets]));
      continue;
    }
    captured.chains.push(...chains);
    captured.warnings.push(...warnings);
    captured.secrets.push(...secrets);
    for (const cause of causesOf(target)) captured.causes.add(cause);
  }
  if (mode === "NONE" || read.mesh().proxyInboundListenPort === 0) {
    return { listeners: bound, conflicts, findings: [...findings, ...policies.authorization.findings()] };
  }
  const servedPorts = new Set(served.map((target) => target.port));
  const passed = [0, ...peers.policy.ports.keys()].filter((port) => !servedPorts.has(port)).sort((a, b) => a - b);
  for (const port of passed) {
    const name = port === 0 ? "every port that no service names" : `port ${port}`;
    if (peers.of(port).closed) findings.push(closedFinding(peers, name));
  }
  const passthrough = passed.flatMap((port) => passthroughChains(read, port, policies));
  const virtual = virtualInboundListener(read, [...passthrough, ...captured.chains]);
  return {
    listeners: [built(virtual, [...captured.causes], captured.warnings, captured.secrets), ...bound],
    conflicts,
    findings: [...findings, ...policies.authorization.findings()],
  };
}

function built(
  message: Listener,
  causes: readonly string[],
  warnings: readonly BuiltWarning[],
  secrets: readonly FileSecret[],
): Built<Listener> {
  return { message, causes, ...(warnings.length > 0 ? { warnings } : {}), ...(secrets.length > 0 ? { secrets } : {}) };
}

function closedFinding({ policy }: PeerTls, port: string, target?: InboundTarget): Finding {
  const causes = [...policy.causes, ...(target ? causesOf(target) : [])];
  return lossOf("not-as-written", causes, `${port} ${WITHOUT_IDENTITY}`);
}

/** The policies that decide who may connect. */
interface WorkloadPolicies {
  readonly peers: PeerTls;
  readonly authorization: Authorization;
}

interface TargetChains {
  readonly chains: FilterChain[];
  /** What of its settings is not in force, one sentence each. */
  readonly notes: readonly string[];
  readonly secrets: readonly FileSecret[];
}

/** The chains of a target; a Sidecar's TLS settings hold where `ENABLE_TLS_ON_SIDECAR_INGRESS` is on. */
function targetChains(read: Reader, target: InboundTarget, { peers, authorization }: WorkloadPolicies): TargetChains {
  const { mesh, closed } = peers.of(target.port);
  const none = { notes: [], secrets: [] };
  if (closed) return { ...none, chains: [closedChain(inboundName(read, target), target.port)] };
  const tls = read.settings.enableTlsOnSidecarIngress ? target.tls : undefined;
  const chainsOf = (ends: TargetTls) => inboundFilterChains(read, targetChain(read, target, ends), authorization);
  if (tls === undefined) return { ...none, chains: chainsOf({ mesh }) };
  const where = `port ${target.port}`;
  if (mesh?.mode === "STRICT") {
    const why = `${where}: tls of the Sidecar is not in force, for mutual TLS is STRICT there`;
    return { ...none, chains: chainsOf({ mesh }), notes: [why] };
  }
  const ended = downstreamTls(read, tls);
  if ("socket" in ended) {
    const ignored = ended.ignoredCipherSuites.map((suite) => `${where}: cipher suite "${suite}" is unknown; ignored`);
    return { chains: chainsOf({ mesh, tls: ended.socket }), notes: ignored, secrets: ended.secrets };
  }
  const chains = [closedChain(inboundName(read, target), target.port)];
  return { ...none, chains, notes: [`${where} is closed: ${ended.why}`] };
}

/** Left out, the port would be passed through in plain text: closed is what the user can notice. */
function closedChain(name: string, port: number): FilterChain {
  return { name, filter_chain_match: { destination_port: wrap(port) }, filters: [blackHoleFilter()] };
}

interface TargetTls {
  readonly mesh: MeshTls | undefined;
  /** TLS of the Sidecar. */
  readonly tls?: envoy.config.core.v3.TransportSocket;
}

function targetChain(read: Reader, target: InboundTarget, { mesh, tls }: TargetTls): InboundChain {
  const { servicePort, service, port } = target;
  const name = inboundName(read, target);
  const cluster = inboundClusterName(port);
  const facts = { host: hostOf(target), port: servicePort.port, portName: servicePort.name };
  return {
    name: { http: name, tcp: name },
    statPrefix: {
      http: `inbound_${name}`,
      tcp: inboundStatPrefix(read, cluster, service ? { ...facts, service } : facts),
    },
    port,
    protocol: tls ? afterTlsTermination(servicePort.protocol) : servicePort.protocol,
    cluster,
    routes: inboundRouteConfiguration(target, cluster),
    ...(tls ? { tls } : {}),
    ...(mesh ? { mesh } : {}),
    ...(target.sidecar ? { metadata: objectMetadata(`Sidecar/${target.sidecar}`) } : {}),
  };
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

/**
 * Ports that no service names: passed through, HTTP recognised.
 *
 * @param port One that has a mode of its own; 0: all others. Closed, these match no chain.
 */
function passthroughChains(read: Reader, port: number, { peers, authorization }: WorkloadPolicies): FilterChain[] {
  const { mesh, closed } = peers.of(port);
  if (closed) return port === 0 ? [] : [closedChain(`${VIRTUAL_INBOUND}-${port}`, port)];
  return inboundFilterChains(read, {
    name: { http: `${VIRTUAL_INBOUND}-catchall-http`, tcp: VIRTUAL_INBOUND },
    statPrefix: { http: INBOUND_PASSTHROUGH, tcp: INBOUND_PASSTHROUGH },
    ...(mesh ? { mesh } : {}),
    port,
    protocol: "Unsupported",
    cluster: INBOUND_PASSTHROUGH,
    routes: inboundRouteConfiguration(ANY_PORT, INBOUND_PASSTHROUGH),
  }, authorization);
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
  const logs = listenerAccessLogs(mesh);
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
