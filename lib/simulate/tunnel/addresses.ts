/**
 * The workloads and services that a node tunnel has, found by address and by name.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import { LoadBalancing_HealthPolicy, NetworkMode, TunnelProtocol, WorkloadStatus } from "../../../proto/gen/enums.ts";
import type { istio } from "../../../proto/gen/types.ts";
import { ipOf } from "../ip.ts";

export type TunnelWorkload = istio.workload.Workload;
export type TunnelService = istio.workload.Service;

/** An endpoint of a service: the workload, and its own ports by port of the service. */
export interface TunnelEndpoint {
  readonly workload: TunnelWorkload;
  readonly ports: ReadonlyMap<number, number>;
}

/** Workloads and services, as a tunnel looks them up. */
export interface TunnelAddresses {
  /** The service of a virtual address. A service of the client's namespace wins; of others, the first by name. */
  serviceAt(network: string, ip: string, clientNamespace: string): TunnelService | undefined;
  /** A service by `namespace/hostname`. */
  service(name: string): TunnelService | undefined;
  /** The workload of an address. Workloads that share the address of their node have no address of their own. */
  workloadAt(network: string, ip: string): TunnelWorkload | undefined;
  workload(uid: string): TunnelWorkload | undefined;
  /** The workload whose address is found by a host name. @param name `namespace/hostname` */
  workloadNamed(name: string): TunnelWorkload | undefined;
  /** The endpoints that a tunnel keeps for a service: the healthy ones, or all if the service says so. */
  endpoints(service: TunnelService): readonly TunnelEndpoint[];
}

/** The name of a service, `namespace/hostname`. */
export function serviceNameOf({ namespace = "", hostname = "" }: istio.workload.NamespacedHostname): string {
  return `${namespace}/${hostname}`;
}

/** Looks up what was sent to a tunnel. */
export function tunnelAddresses(sent: Iterable<istio.workload.Address>): TunnelAddresses {
  const services = new Map<string, TunnelService>();
  const workloads = new Map<string, TunnelWorkload>();
  const byVip = new Map<string, TunnelService[]>();
  const byAddress = new Map<string, TunnelWorkload>();
  const byHost = new Map<string, TunnelWorkload>();
  const byService = new Map<string, TunnelEndpoint[]>();
  for (const { service, workload } of sent) {
    if (service) {
      services.set(serviceNameOf(service), service);
      for (const { network = "", address } of service.addresses ?? []) {
        byVip.getOrInsertComputed(addressKey(network, textOf(address)), () => []).push(service);
      }
    }
    if (!workload) continue;
    workloads.set(workload.uid ?? "", workload);
    if (workload.hostname) byHost.set(serviceNameOf(workload), workload);
    if (workload.network_mode !== NetworkMode.HOST_NETWORK) {
      for (const bytes of workload.addresses ?? []) {
        byAddress.set(addressKey(workload.network ?? "", textOf(bytes)), workload);
      }
    }
    for (const name of Object.keys(workload.services ?? {})) {
      byService.getOrInsertComputed(name, () => []).push(endpointOf(workload, name)!);
    }
  }
  return {
    serviceAt(network, ip, clientNamespace) {
      return chosenService(byVip.get(addressKey(network, normalIp(ip))) ?? [], clientNamespace);
    },
    service: (name) => services.get(name),
    workloadAt: (network, ip) => byAddress.get(addressKey(network, normalIp(ip))),
    workload: (uid) => workloads.get(uid),
    workloadNamed: (name) => byHost.get(name),
    endpoints(service) {
      return keptEndpoints(byService.get(serviceNameOf(service)) ?? [], service);
    },
  };
}

/** The service of several with a common address: of the client's namespace, else the first by name. */
export function chosenService(found: readonly TunnelService[], clientNamespace: string): TunnelService | undefined {
  const sorted = found.toSorted((a, b) => serviceNameOf(a) < serviceNameOf(b) ? -1 : 1);
  return sorted.find(({ namespace }) => namespace === clientNamespace) ?? sorted[0];
}

/** A workload as an endpoint of a service. Undefined: the workload does not serve the service. */
export function endpointOf(workload: TunnelWorkload, service: string): TunnelEndpoint | undefined {
  const served = workload.services?.[service];
  if (served === undefined) return undefined;
  const { ports = [] } = served;
  return {
    workload,
    ports: new Map(ports.map(({ service_port = 0, target_port = 0 }) => [service_port, target_port])),
  };
}

/** The endpoints that a tunnel keeps of all. */
export function keptEndpoints(
  all: readonly TunnelEndpoint[],
  { load_balancing }: TunnelService,
): readonly TunnelEndpoint[] {
  if (load_balancing?.health_policy === LoadBalancing_HealthPolicy.ALLOW_ALL) return all;
  return all.filter(({ workload }) => workload.status !== WorkloadStatus.UNHEALTHY);
}

/** Whether the node's tunnel takes the connections of a workload. */
export function isTunnelled({ tunnel_protocol, native_tunnel }: TunnelWorkload): boolean {
  return tunnel_protocol === TunnelProtocol.HBONE && native_tunnel !== true;
}

/** Bytes of an address as text. Empty: the bytes are no address. */
export function textOf(bytes: Uint8Array | undefined): string {
  if (bytes?.length !== 4 && bytes?.length !== 16) return "";
  return ipaddr.fromByteArray([...bytes]).toString();
}

/** An address in the spelling of look-ups. */
export function normalIp(ip: string): string {
  return ipOf(ip)?.toString() ?? ip;
}

/** The key of an address in a network: `NETWORK/IP`. */
export function addressKey(network: string, ip: string): string {
  return `${network}/${ip}`;
}
