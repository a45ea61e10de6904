/**
 * The ports of a workload that have listeners, with addresses and targets.
 *
 * @module
 */
import type { InboundTarget } from "../../inbound/target.ts";
import { type Finding, lossOf } from "../../../finding/finding.ts";
import { portCauses } from "../../../registry/types.ts";
import type { Reader } from "../../reader/reader.ts";
import { listenerName, wildcards } from "../address.ts";
import { STATIC_PORTS } from "../contribution.ts";
import { listenerKind } from "../../service/protocol.ts";

/**
 * Two services, or two ports of a service, have the same port of the workload with different protocols (metric
 * `pilot_conflict_inbound_listener`).
 */
export interface InboundConflict {
  readonly port: number;
  /** Hosts, or `Sidecar namespace/name`. */
  readonly accepted: string;
  readonly rejected: string;
  readonly causes: readonly string[];
}

/** The conflict in words. */
export function inboundFinding({ port, accepted, rejected, causes }: InboundConflict): Finding {
  const text = `inbound port ${port}: ${accepted} has the port, so ${rejected} is not served there`;
  return lossOf("inbound-conflict", causes, text);
}

/** The targets with chains, by port. */
export function servedTargets(read: Reader, targets: readonly InboundTarget[], nothingCaptured: boolean): {
  readonly served: readonly InboundTarget[];
  readonly conflicts: readonly InboundConflict[];
} {
  const byPort = new Map<number, InboundTarget>();
  const conflicts: InboundConflict[] = [];
  for (const target of targets) {
    if (listenerKind(target.servicePort.protocol) === undefined) continue;
    // The application itself listens on its service's port. Only a Sidecar gives the proxy another port.
    if (nothingCaptured && !target.fromSidecarIngress) continue;
    const reason = unbindable(read, target, nothingCaptured);
    const other = byPort.get(target.port);
    if (reason === undefined && other === undefined) byPort.set(target.port, target);
    else if (reason !== undefined) conflicts.push(conflict(target, reason));
    else if (other && other.servicePort.protocol !== target.servicePort.protocol) {
      conflicts.push(conflict(target, hostOf(other)));
    }
    for (const { service, port } of target.rejected ?? []) {
      const isOwn = service === target.service;
      const [accepted, rejected] = isOwn
        ? [`port ${target.servicePort.port} of ${service.hostname}`, `port ${port.port}`]
        : [hostOf(target), service.hostname];
      conflicts.push({ port: target.port, accepted, rejected, causes: portCauses(service, port) });
    }
  }
  return { served: [...byPort.values()].sort((a, b) => a.port - b.port), conflicts };
}

function conflict(target: InboundTarget, accepted: string): InboundConflict {
  return { port: target.port, accepted, rejected: hostOf(target), causes: causesOf(target) };
}

/** The present owner of a port: the proxy, or the operating system for an unprivileged proxy. */
function unbindable(read: Reader, target: InboundTarget, nothingCaptured: boolean): string | undefined {
  const { proxyListenPort, proxyInboundListenPort } = read.mesh();
  const everywhere = target.bind === undefined || target.bind === wildcards(read)[0];
  if (everywhere && [...STATIC_PORTS, proxyListenPort, proxyInboundListenPort].includes(target.port)) {
    return "the proxy";
  }
  if (!bindsToPort(target, nothingCaptured) || target.port >= 1024) return undefined;
  return read.property("isUnprivileged") ? "privileged ports" : undefined;
}

/** Whether the proxy listens on the port for real; false: the port is captured. */
export function bindsToPort(target: InboundTarget, nothingCaptured: boolean): boolean {
  return target.captureMode === "DEFAULT" ? nothingCaptured : target.captureMode === "NONE";
}

/** The target's name in messages. */
export function hostOf(target: InboundTarget): string {
  return target.service?.hostname ?? (target.sidecar ? `Sidecar ${target.sidecar}` : "Sidecar ingress");
}

/** Keys of the config objects behind a target. */
export function causesOf(target: InboundTarget): readonly string[] {
  const { sidecar, service, servicePort } = target;
  return [...sidecar ? [`Sidecar/${sidecar}`] : [], ...service ? portCauses(service, servicePort) : []];
}

/**
 * The listening addresses of a target: the written bind, else the workload's own addresses (real sockets), else all.
 */
export function inboundBinds(read: Reader, target: InboundTarget): readonly string[] {
  if (target.bind !== undefined) return [target.bind];
  const none = read.derived("interceptionNone", (t) => t.interceptionMode === "NONE");
  const own = bindsToPort(target, none) ? target.workloadAddresses ?? [] : [];
  return own.length > 0 ? own.slice(0, read.settings.dualStack ? 2 : 1) : wildcards(read);
}

/** Name of a target's chains, and of its listener if any. */
export function inboundName(read: Reader, target: InboundTarget): string {
  return listenerName(inboundBinds(read, target)[0] ?? "", target.port);
}
