/**
 * What the node tunnels of a running server have. A question decodes only the resources that it meets: a mesh has tens
 * of thousands of workloads.
 *
 * @module
 */
import type { istio } from "../../../proto/gen/types.ts";
import { mayHold, type TunnelSets } from "../../debug/tunnel_sets.ts";
import { decode } from "../../pb/reflect.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";
import {
  addressKey,
  chosenService,
  endpointOf,
  isTunnelled,
  keptEndpoints,
  normalIp,
  serviceNameOf,
  type TunnelAddresses,
  type TunnelEndpoint,
} from "../../simulate/tunnel/addresses.ts";
import type { TunnelPolicyTable } from "../../simulate/tunnel/authorize.ts";
import { ADDRESS, AUTHORIZATION } from "../../xds/protocol/types.ts";
import type { TunnelWorld } from "./tunnel.ts";

/** The tunnels of a server, as they are now. */
export function tunnelWorldOfServer(tunnels: TunnelSets): TunnelWorld {
  const sets = tunnels.sets(ADDRESS) ?? [];
  return {
    client: ({ address, namespace }) => {
      const end = addressKey("", normalIp(address));
      const found = resourcesOf(sets).filter(({ aliases }) => aliases.some((alias) => alias.endsWith(end)));
      return found.map((one) => messageOf(one).workload)
        .find((workload) => workload?.namespace === namespace && isTunnelled(workload));
    },
    state: { addresses: addressesOf(sets), policies: policiesOf(tunnels.sets(AUTHORIZATION) ?? []) },
  };
}

function addressesOf(sets: readonly ResourceSet[]): TunnelAddresses {
  // The way to each instance of a waypoint, and from there, asks for the same endpoints.
  const endpoints = new Map<string, readonly TunnelEndpoint[]>();
  const named = (name: string) => {
    const [found] = sets.flatMap((set) => set.get(name) ?? []);
    return found && messageOf(found);
  };
  const at = (network: string, ip: string) =>
    sets.flatMap((set) => set.withAlias(addressKey(network, normalIp(ip)))).map(messageOf);
  return {
    serviceAt: (network, ip, namespace) =>
      chosenService(at(network, ip).flatMap(({ service }) => service ?? []), namespace),
    service: (name) => named(name)?.service,
    workloadAt: (network, ip) => at(network, ip).flatMap(({ workload }) => workload ?? [])[0],
    workload: (uid) => named(uid)?.workload,
    workloadNamed: (name) => workloadNamed(name, sets),
    endpoints: (service) => {
      const all = endpoints.getOrInsertComputed(serviceNameOf(service), (name) => endpointsOf(name, sets));
      return keptEndpoints(all, service);
    },
  };
}

/** The names of workloads whose address is found by a host name hold the host name. */
function workloadNamed(name: string, sets: readonly ResourceSet[]) {
  const host = `/${name.slice(name.indexOf("/") + 1)}`;
  const found = resourcesOf(sets).filter((one) => one.name.includes(host)).map((one) => messageOf(one).workload);
  return found.find((workload) => workload !== undefined && serviceNameOf(workload) === name);
}

function endpointsOf(service: string, sets: readonly ResourceSet[]): readonly TunnelEndpoint[] {
  const isCandidate = mayHold(service);
  const found: TunnelEndpoint[] = [];
  for (const set of sets) {
    for (const resource of set) {
      const workload = isCandidate(resource) ? messageOf(resource).workload : undefined;
      const endpoint = workload && endpointOf(workload, service);
      if (endpoint) found.push(endpoint);
    }
  }
  return found;
}

function policiesOf(sets: readonly ResourceSet[]): TunnelPolicyTable {
  return new Map(
    resourcesOf(sets).map(({ name, value }) =>
      [name, decode<istio.security.Authorization>("istio.security.Authorization", value)] as const
    ),
  );
}

function resourcesOf(sets: readonly ResourceSet[]): IteratorObject<EncodedResource, void> {
  return Iterator.from(sets).flatMap((set) => set);
}

function messageOf({ value }: EncodedResource): istio.workload.Address {
  return decode<istio.workload.Address>("istio.workload.Address", value);
}
