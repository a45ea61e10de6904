/**
 * The ports of services, and the ports of workloads behind them.
 *
 * @module
 */
import type { istio } from "../../proto/gen/types.ts";
import type { ContainerData, EndpointPortData, ServicePortData } from "../config/facts/types.ts";
import type { ServiceEntryPort } from "../config/kinds/service_entry/schema.ts";
import { targetOf } from "../registry/orch/pod.ts";
import type { ServiceKey } from "../registry/types.ts";

type Port = istio.workload.Port;

/** Ports of a workload, by service. */
export class ServedServices {
  readonly #ports = new Map<ServiceKey, Map<number, Port>>();

  /** Adds ports of a service. Of several for the same port of the service, the first counts. */
  add(service: ServiceKey, ports: readonly Port[]): void {
    let known = this.#ports.get(service);
    if (known === undefined) this.#ports.set(service, known = new Map());
    for (const port of ports) if (!known.has(port.service_port!)) known.set(port.service_port!, port);
  }

  /** The keys of the services. */
  get keys(): readonly ServiceKey[] {
    return [...this.#ports.keys()];
  }

  /** The field of a workload's message, in the order of the keys; undefined: no services. */
  message(): Record<string, istio.workload.PortList> | undefined {
    if (this.#ports.size === 0) return undefined;
    const sorted = [...this.#ports].sort(([a], [b]) => a < b ? -1 : 1);
    return Object.fromEntries(sorted.map(([key, ports]) => [key, { ports: [...ports.values()] }]));
  }
}

/** Ports of a service. The target of a named port differs between workloads, and is left out. */
export function servicePorts(ports: readonly ServicePortData[]): Port[] {
  return ports.map(({ port, targetPort }) =>
    typeof targetPort === "string" ? { service_port: port } : { service_port: port, target_port: targetPort || port }
  );
}

/** Ports of a pod behind a service. A port that the pod does not name is left out. */
export function podPorts(ports: readonly ServicePortData[], containers: readonly ContainerData[]): Port[] {
  return ports.flatMap((port): Port[] => {
    const target = targetOf(port, { containers });
    return target === undefined ? [] : [{ service_port: port.port, target_port: target }];
  });
}

/** Ports of a workload entry behind a service of the orchestrator. @param own the entry's ports by name */
export function selectedEntryPorts(
  ports: readonly ServicePortData[],
  own: Readonly<Record<string, number>>,
): Port[] {
  return ports.flatMap(({ name, port, targetPort }): Port[] => {
    const byName = typeof targetPort === "string" ? targetPort : undefined;
    const target = Object.hasOwn(own, byName ?? name) ? own[byName ?? name] : undefined;
    if (target === undefined && byName !== undefined) return [];
    return [{ service_port: port, target_port: target || Number(targetPort) || port }];
  });
}

/** Ports of a service entry. */
export function entryPorts(ports: readonly ServiceEntryPort[]): Port[] {
  return ports.map(({ number, targetPort }) => ({ service_port: number, target_port: targetPort || number }));
}

/** Ports of a workload behind a service entry. @param own the workload's ports by the names of the entry's ports */
export function entryWorkloadPorts(
  ports: readonly ServiceEntryPort[],
  own: Readonly<Record<string, number>> = {},
): Port[] {
  return ports.map(({ name, number, targetPort }) => ({
    service_port: number,
    target_port: (Object.hasOwn(own, name) ? own[name] : 0) || targetPort || number,
  }));
}

/** Ports of the endpoints of a slice behind a service, by the names of the ports. */
export function slicePorts(ports: readonly ServicePortData[], ofSlice: readonly EndpointPortData[]): Port[] {
  return ports.flatMap(({ name, port, protocol }): Port[] => {
    const target = ofSlice.find((one) => one.name === name && one.protocol === protocol)?.port;
    return target === undefined ? [] : [{ service_port: port, target_port: target }];
  });
}
