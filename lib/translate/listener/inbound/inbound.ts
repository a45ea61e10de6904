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
import { duration, wrap } from "../../../pb/wellknown.ts";
import type { Built } from "../../message/built.ts";
import { INBOUND_PASSTHROUGH } from "../../cluster/static.ts";
import { inboundClusterName, type InboundTarget } from "../../inbound/target.ts";
import type { FileSecret } from "../../message/file_secret.ts";
import { objectMetadata } from "../../message/object_metadata.ts";
import type { Reader } from "../../reader/reader.ts";
import { inboundRouteConfiguration } from "../../route/configuration.ts";
import { listenerAccessLogs } from "../access_log.ts";
import { listenAddresses, wildcards } from "../address.ts";
import { downstreamTls } from "../downstream_tls.ts";
import { blackHoleFilter } from "../fallthrough.ts";
import { type InboundChain, inboundFilterChains, inboundStatPrefix } from "./chain.ts";
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
import { afterTlsTermination } from "../../service/protocol.ts";
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
}

/**
 * The inbound listeners for these targets.
 *
 * @param targets In order of precedence; the first of two on one port has it.
 */
export function inboundListeners(read: Reader, targets: readonly InboundTarget[]): InboundListeners {
  const mode = read.property("interceptionMode");
  const { served, conflicts } = servedTargets(read, targets, mode === "NONE");
  const captured = {
    chains: [] as FilterChain[],
    causes: new Set<string>(),
    warnings: [] as string[],
    secrets: [] as FileSecret[],
  };
  const bound: Built<Listener>[] = [];
  for (const target of served) {
    const { chains, warnings, secrets } = targetChains(read, target);
    if (bindsToPort(target, mode === "NONE")) {
      bound.push(built(boundListener(read, target, chains), causesOf(target), warnings, secrets));
      continue;
    }
    captured.chains.push(...chains);
    captured.warnings.push(...warnings);
    captured.secrets.push(...secrets);
    for (const cause of causesOf(target)) captured.causes.add(cause);
  }
  if (mode === "NONE" || read.mesh().proxyInboundListenPort === 0) return { listeners: bound, conflicts };
  const virtual = virtualInboundListener(read, captured.chains);
  return {
    listeners: [built(virtual, [...captured.causes], captured.warnings, captured.secrets), ...bound],
    conflicts,
  };
}

function built(
  message: Listener,
  causes: readonly string[],
  warnings: readonly string[],
  secrets: readonly FileSecret[],
): Built<Listener> {
  return { message, causes, ...(warnings.length > 0 ? { warnings } : {}), ...(secrets.length > 0 ? { secrets } : {}) };
}

/** The chains of a target; a Sidecar's TLS settings hold where `ENABLE_TLS_ON_SIDECAR_INGRESS` is on. */
function targetChains(read: Reader, target: InboundTarget): {
  readonly chains: FilterChain[];
  readonly warnings: readonly string[];
  readonly secrets: readonly FileSecret[];
} {
  const tls = read.settings.enableTlsOnSidecarIngress ? target.tls : undefined;
  const none = { warnings: [], secrets: [] };
  if (tls === undefined) return { ...none, chains: inboundFilterChains(read, targetChain(read, target)) };
  const ended = downstreamTls(tls, read.mesh().tlsDefaults);
  const where = `port ${target.port}`;
  if ("socket" in ended) {
    const ignored = ended.ignoredCipherSuites.map((suite) => `${where}: cipher suite "${suite}" is unknown; ignored`);
    const chains = inboundFilterChains(read, targetChain(read, target, ended.socket));
    return { chains, warnings: ignored, secrets: ended.secrets };
  }
  // Left out, the port would be passed through in plain text: closed is what the user can notice.
  const match = { destination_port: wrap(target.port) };
  const closed = { name: inboundName(read, target), filter_chain_match: match };
  const chains = [{ ...closed, filters: [blackHoleFilter()] }];
  return { ...none, chains, warnings: [`${where} is closed: ${ended.why}`] };
}

function targetChain(
  read: Reader,
  target: InboundTarget,
  tls?: envoy.config.core.v3.TransportSocket,
): InboundChain {
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
    ...(target.sidecar ? { metadata: objectMetadata(`Sidecar/${target.sidecar}`) } : {}),
  };
}

function boundListener(read: Reader, target: InboundTarget, chains: FilterChain[]): Listener {
  const addresses = inboundBinds(read, target);
  return listener(read, { name: inboundName(read, target), addresses, port: target.port, chains, captured: false });
}

function virtualInboundListener(read: Reader, targets: readonly FilterChain[]): Listener {
  const port = read.mesh().proxyInboundListenPort;
  const blackHole: FilterChain = {
    name: `${VIRTUAL_INBOUND}-blackhole`,
    filter_chain_match: { destination_port: wrap(port) },
    filters: [blackHoleFilter()],
  };
  const chains = [blackHole, ...passthroughChains(read), ...targets];
  return listener(read, { name: VIRTUAL_INBOUND, addresses: wildcards(read), port, chains, captured: true });
}

/** Ports that no service names: passed through, HTTP recognised. */
function passthroughChains(read: Reader): FilterChain[] {
  return inboundFilterChains(read, {
    name: { http: `${VIRTUAL_INBOUND}-catchall-http`, tcp: VIRTUAL_INBOUND },
    statPrefix: { http: INBOUND_PASSTHROUGH, tcp: INBOUND_PASSTHROUGH },
    port: 0,
    protocol: "Unsupported",
    cluster: INBOUND_PASSTHROUGH,
    routes: inboundRouteConfiguration(ANY_PORT, INBOUND_PASSTHROUGH),
  });
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
