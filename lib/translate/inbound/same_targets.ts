/**
 * Compares workloads: workloads that serve the same ports in the same way share inbound resources.
 *
 * @module
 */
import { sameItems } from "../../incremental/same_items.ts";
import type { InboundManagers } from "../listener/inbound/manager.ts";
import type { Passthrough } from "../listener/inbound/passthrough.ts";
import type { InboundTarget, RejectedPort } from "./target.ts";

/** Inputs of the inbound resources of a workload beside the mesh. */
export interface InboundParts {
  readonly targets: readonly InboundTarget[];
  /** Shared by all workloads with equal policies and properties. */
  readonly passthrough: Passthrough;
  /** Shared in the same way. */
  readonly managers: InboundManagers;
}

/** Whether two workloads have the same inbound resources. */
export function sameInboundParts(a: InboundParts, b: InboundParts): boolean {
  return a.passthrough === b.passthrough && sameTargets(a.targets, b.targets) && sameManagers(a.managers, b.managers);
}

/** Compares the managers for equal targets, which have the same keys. */
function sameManagers(a: InboundManagers, b: InboundManagers): boolean {
  for (const [name, manager] of a) if (b.get(name) !== manager) return false;
  return true;
}

/** A key for finding equal lists. */
export function inboundTargetsName(targets: readonly InboundTarget[]): string {
  return targets.map((t) => `${t.port}/${t.service?.namespace}/${t.service?.hostname}`).join();
}

/** Whether two workloads serve the same ports; services are compared by identity. */
export function sameTargets(a: readonly InboundTarget[], b: readonly InboundTarget[]): boolean {
  return a.length === b.length && a.every((target, i) => sameTarget(target, b[i]!));
}

function sameTarget(a: InboundTarget, b: InboundTarget): boolean {
  return a.service === b.service && a.port === b.port && a.bind === b.bind && a.captureMode === b.captureMode &&
    a.defaultEndpoint === b.defaultEndpoint && a.fromSidecarIngress === b.fromSidecarIngress && a.tls === b.tls &&
    a.connectionPool === b.connectionPool && a.sidecar === b.sidecar && samePlain(a.servicePort, b.servicePort) &&
    samePlain(a.workloadAddresses, b.workloadAddresses) && samePlain(a.otherPorts, b.otherPorts) &&
    sameServices(a.otherServices, b.otherServices) &&
    sameRejected(a.rejected, b.rejected);
}

function sameRejected(a: readonly RejectedPort[] = [], b: readonly RejectedPort[] = []): boolean {
  return a.length === b.length && a.every(({ service, port }, at) => {
    return service === b[at]?.service && samePlain(port, b[at].port);
  });
}

function samePlain(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function sameServices(a: readonly unknown[] = [], b: readonly unknown[] = []): boolean {
  return sameItems(a, b);
}
