/**
 * What a node tunnel rejects in a resource, in its words. A field that the tunnel does not know is no fault, an unknown
 * value of an enumeration is.
 *
 * @module
 */
import {
  Action,
  ApplicationTunnel_Protocol,
  LoadBalancing_HealthPolicy,
  LoadBalancing_Mode,
  LoadBalancing_Scope,
  NetworkMode,
  Scope,
  TunnelProtocol,
  WorkloadStatus,
  WorkloadType,
} from "../../../proto/gen/enums.ts";
import type { istio } from "../../../proto/gen/types.ts";

/** Why an address is rejected; undefined: it is taken. */
export function addressFault({ workload, service }: istio.workload.Address): string | undefined {
  if (workload) return workloadFault(workload);
  return service ? serviceFault(service) : "no workload and no service";
}

function workloadFault(workload: istio.workload.Workload): string | undefined {
  return lengthFault(workload.addresses) ??
    valueFault(TunnelProtocol, workload.tunnel_protocol) ??
    valueFault(WorkloadStatus, workload.status) ??
    valueFault(NetworkMode, workload.network_mode) ??
    valueFault(WorkloadType, workload.workload_type) ??
    valueFault(ApplicationTunnel_Protocol, workload.application_tunnel?.protocol) ??
    gatewayFault(workload.waypoint) ?? gatewayFault(workload.network_gateway);
}

function serviceFault(service: istio.workload.Service): string | undefined {
  const { mode, health_policy, routing_preference = [] } = service.load_balancing ?? {};
  return lengthFault(service.addresses?.map(({ address }) => address ?? new Uint8Array())) ??
    valueFault(LoadBalancing_Mode, mode) ??
    valueFault(LoadBalancing_HealthPolicy, health_policy) ??
    routing_preference.map((scope) => valueFault(LoadBalancing_Scope, scope)).find((fault) => fault !== undefined) ??
    gatewayFault(service.waypoint);
}

/** Why a policy is rejected; undefined: it is taken. */
export function policyFault({ scope, action, groups = [] }: istio.security.Authorization): string | undefined {
  const ranges = groups.flatMap(({ rules = [] }) => rules).flatMap(({ matches = [] }) => matches).flatMap((match) => [
    ...match.source_ips ?? [],
    ...match.not_source_ips ?? [],
    ...match.destination_ips ?? [],
    ...match.not_destination_ips ?? [],
  ]);
  return valueFault(Scope, scope) ?? valueFault(Action, action) ??
    lengthFault(ranges.map(({ address }) => address ?? new Uint8Array()));
}

function lengthFault(addresses: readonly Uint8Array[] = []): string | undefined {
  const wrong = addresses.find(({ length }) => length !== 4 && length !== 16);
  return wrong && `failed to parse address, had ${wrong.length} bytes`;
}

function valueFault(values: Readonly<Record<string, number>>, value = 0): string | undefined {
  return Object.values(values).includes(value) ? undefined : `decode error: unknown enumeration value ${value}`;
}

function gatewayFault(gateway: istio.workload.GatewayAddress | undefined): string | undefined {
  if (gateway === undefined) return undefined;
  const { hostname, address } = gateway;
  if (hostname === undefined && address === undefined) return "decode error: a gateway without a destination";
  return address && lengthFault([address.address ?? new Uint8Array()]);
}
