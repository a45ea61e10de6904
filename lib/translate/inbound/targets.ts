/**
 * The inbound targets of a sidecar: ports of the services that select the workload, or ports in its `Sidecar`.
 *
 * @module
 */
import type { SidecarIngress, SidecarSpec } from "../../config/kinds/sidecar/schema.ts";
import type { ServiceTarget } from "../../registry/inbound.ts";
import { parseProtocol } from "../../registry/protocol.ts";
import type { Service } from "../../registry/types.ts";
import type { InboundTarget, NamedServicePort, RejectedPort } from "./target.ts";

/** The inputs of the list. */
export interface InboundInput {
  /** Services at the workload's addresses, the oldest first. */
  readonly targets: readonly ServiceTarget[];
  readonly sidecar: SidecarSpec | undefined;
  /** The Sidecar, `namespace/name`. */
  readonly sidecarName?: string;
  /** The proxy captures nothing (interception mode NONE), so the proxy opens real sockets. */
  readonly capturesNothing?: boolean;
  /** IP addresses of the workload. */
  readonly addresses: readonly string[];
  /** `PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE`: ports missing from the Sidecar are served too. */
  readonly mergeServicePorts: boolean;
}

/** The ports to serve, each once, in a stable order. */
export function inboundTargets(input: InboundInput): InboundTarget[] {
  const { sidecar, targets } = input;
  const ingress = sidecar?.ingress ?? [];
  if (ingress.length === 0) return fromServices(targets, sidecar);
  const listed = ingress.map((entry) => fromIngress(entry, input));
  if (!input.mergeServicePorts) return listed;
  const taken = new Set(listed.map((target) => target.port));
  return [...listed, ...fromServices(targets, sidecar).filter((target) => !taken.has(target.port))];
}

/**
 * The first (oldest) of several services on a port of the workload sets protocol and name. Within a service, the first
 * listed port does.
 */
function fromServices(targets: readonly ServiceTarget[], sidecar: SidecarSpec | undefined): InboundTarget[] {
  const byPort = new Map<
    number,
    { first: ServiceTarget; others: Service[]; ports: NamedServicePort[]; rejected: RejectedPort[] }
  >();
  for (const target of targets) {
    if (target.endpointPort === 0 || target.port.protocol === "UDP") continue;
    const known = byPort.get(target.endpointPort);
    if (!known) byPort.set(target.endpointPort, { first: target, others: [], ports: [], rejected: [] });
    else {
      const { service, port } = target;
      if (service !== known.first.service) known.others.push(service);
      known.ports.push(named(target));
      if (port.protocol !== known.first.port.protocol) known.rejected.push({ service, port });
    }
  }
  return [...byPort].map(([port, { first, others, ports, rejected }]) => ({
    port,
    servicePort: first.port,
    service: first.service,
    captureMode: "DEFAULT",
    fromSidecarIngress: false,
    ...(others.length > 0 ? { otherServices: others } : {}),
    ...(ports.length > 0 ? { otherPorts: ports } : {}),
    ...(rejected.length > 0 ? { rejected } : {}),
    ...(sidecar?.inboundConnectionPool ? { connectionPool: sidecar.inboundConnectionPool } : {}),
  }));
}

function named({ service: { namespace, hostname }, port: { port } }: ServiceTarget): NamedServicePort {
  return { namespace, host: hostname, port };
}

function fromIngress(entry: SidecarIngress, input: InboundInput): InboundTarget {
  const port = entry.port.number ?? 0;
  const served = input.targets.find((target) => target.endpointPort === port) ??
    input.targets.find((target) => target.port.port === port);
  const onPort = input.targets.filter((target) => target.endpointPort === port).map(named);
  const pool = entry.connectionPool ?? input.sidecar?.inboundConnectionPool;
  const listens = entry.captureMode === "DEFAULT" ? input.capturesNothing === true : entry.captureMode === "NONE";
  const ownAddress = listens && !entry.bind || /^(0\.0\.0\.0|\[::\]):/.test(entry.defaultEndpoint ?? "");
  return {
    port,
    servicePort: { name: entry.port.name ?? "", port, protocol: parseProtocol(entry.port.protocol ?? "") },
    captureMode: entry.captureMode,
    fromSidecarIngress: true,
    ...(served ? { service: served.service } : {}),
    ...(onPort.length > 0 ? { otherPorts: onPort } : {}),
    ...(entry.bind ? { bind: entry.bind } : {}),
    ...(entry.defaultEndpoint ? { defaultEndpoint: entry.defaultEndpoint } : {}),
    ...(ownAddress ? { workloadAddresses: input.addresses } : {}),
    ...(entry.tls ? { tls: entry.tls } : {}),
    ...(input.sidecarName ? { sidecar: input.sidecarName } : {}),
    ...(pool ? { connectionPool: pool } : {}),
  };
}
