/**
 * One service from the Services of several clusters, and the workloads that stand for its workloads in other networks.
 *
 * @module
 */
import type { istio } from "../../../proto/gen/types.ts";
import { addressAlias, type AddressResource } from "../addresses.ts";
import { gatewayAddress, gatewayCauses, type TunnelGateway } from "./gateways.ts";

/** Numbers of enumerations. */
const HBONE = 1;
const POD = 2;

/** The service of a cluster. */
export interface ClusterService {
  readonly cluster: string;
  readonly resource: AddressResource;
}

/** A service of the mesh. */
export interface MeshService {
  readonly resource: AddressResource;
  /** Whether other networks reach the service. */
  readonly isGlobal: boolean;
}

/**
 * The service of the mesh. The service of the own cluster is the base: if it is local, it is the service. Otherwise the
 * global services of other clusters add their addresses and names in certificates. Without a service in the own cluster
 * the base is the first global service by the name of its cluster. Undefined: there is no such service.
 */
export function mergedService(services: Iterable<ClusterService>, own: string): MeshService | undefined {
  const all = [...services];
  const here = all.find(({ cluster }) => cluster === own);
  if (here !== undefined && !here.resource.isGlobal) return { resource: here.resource, isGlobal: false };
  const others = all.filter(({ cluster, resource }) => cluster !== own && resource.isGlobal)
    .sort((a, b) => a.cluster < b.cluster ? -1 : 1);
  const [base, ...added] = here === undefined ? others : [here, ...others];
  if (base === undefined) return undefined;
  return { resource: added.reduce(withService, base.resource), isGlobal: true };
}

function withService(base: AddressResource, { resource }: ClusterService): AddressResource {
  const [service, other] = [base.message.service!, resource.message.service!];
  const known = new Set((service.addresses ?? []).map(addressText));
  const addresses = [
    ...service.addresses ?? [],
    ...(other.addresses ?? []).filter((one) => !known.has(addressText(one))),
  ];
  return withMessage(base, {
    ...service,
    addresses,
    subject_alt_names: [...new Set([...service.subject_alt_names ?? [], ...other.subject_alt_names ?? []])],
  });
}

/** A service that also accepts the identities of workloads in other networks. */
export function withIdentities(base: AddressResource, identities: ReadonlySet<string>): AddressResource {
  if (identities.size === 0) return base;
  const service = base.message.service!;
  const subject_alt_names = [...new Set([...service.subject_alt_names ?? [], ...[...identities].sort()])];
  return withMessage(base, { ...service, subject_alt_names });
}

function withMessage(base: AddressResource, service: istio.workload.Service): AddressResource {
  const aliases = (service.addresses ?? []).flatMap(({ network = "", address, length }) =>
    length === undefined ? [addressAlias(network, address!)] : []
  );
  return { ...base, aliases, message: { service } };
}

function addressText({ network = "", address, length }: istio.workload.NetworkAddress): string {
  return `${network}/${address}/${length}`;
}

/** The workload that stands for all workloads of a service in another network. @param capacity their weights */
export function splitWorkload(
  { name: service, message }: AddressResource,
  gateway: TunnelGateway,
  capacity: number,
  trustDomain: string,
): AddressResource {
  const { network, cluster, namespace, name, address } = gateway;
  const uid = `${network}/SplitHorizonWorkload/${namespace}/${name}/${address}/${service}`;
  return {
    name: uid,
    aliases: [],
    message: {
      workload: {
        ...{ uid, name: uid, namespace: message.service?.namespace ?? "", network },
        trust_domain: trustDomain === "cluster.local" ? "" : trustDomain,
        workload_type: POD,
        tunnel_protocol: HBONE,
        network_gateway: gatewayAddress(gateway),
        cluster_id: cluster,
        services: { [service]: { ports: [...message.service?.ports ?? []] } },
        capacity: { value: capacity },
      },
    },
    causes: gatewayCauses(gateway),
  };
}
