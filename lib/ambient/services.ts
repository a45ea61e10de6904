/**
 * Services and hosts of service entries as services of node tunnels.
 *
 * @module
 */
import type { istio } from "../../proto/gen/types.ts";
import type { Fact } from "../config/facts/types.ts";
import type { IpFamily } from "../config/facts/service_data.ts";
import type { AssignedAddress } from "../config/kinds/assigned_addresses.ts";
import type { ConfigObject } from "../config/types.ts";
import { isEastWestPart, type Labels } from "../registry/labels.ts";
import { externalNameOf } from "../registry/orch/stand_in.ts";
import { distributionOf } from "../registry/traffic_distribution.ts";
import { serviceAddress } from "./addresses.ts";
import { loadBalancing } from "./balancing.ts";
import { isWaypointPart } from "../mesh/waypoints/marks.ts";
import { entryPorts, servicePorts } from "./ports.ts";
import type { WaypointUser } from "../mesh/waypoints/policies.ts";

type ServiceMessage = istio.workload.Service;
type Port = istio.workload.Port;

/** Numbers of `IPFamilies`. */
const FAMILIES = { none: 0, v4: 1, v6: 2, both: 3 } as const;

const DISTRIBUTION = "networking.mesh.io/traffic-distribution";

/** What the messages of all services need beside their objects. */
export interface ServiceSurroundings {
  /** Network of the cluster; empty: the default network. */
  readonly network: string;
  namespaceAnnotations(namespace: string): Labels;
  /** The waypoint of an object, as tunnels get it; undefined: none. */
  waypoint(user: WaypointUser): istio.workload.GatewayAddress | undefined;
  /** The addresses that are assigned to the hosts of a service entry. */
  assigned(entry: ConfigObject<"ServiceEntry">): readonly AssignedAddress[];
}

/** The objects behind a service: a Service, or entries of the same host and namespace. */
export interface ServiceSources {
  readonly hostname: string;
  readonly service?: Fact<"Service"> | undefined;
  readonly entries: readonly ConfigObject<"ServiceEntry">[];
}

/**
 * A service. The Service is the base, else the oldest entry (then the first by name). Other entries add their ports,
 * addresses and names in certificates. Undefined: there is no such service, or another name stands for it.
 */
export function serviceMessage(
  { hostname, service, entries }: ServiceSources,
  around: ServiceSurroundings,
): ServiceMessage | undefined {
  const [base, ...others] = [
    ...service === undefined || externalNameOf(service.spec) !== undefined
      ? []
      : [ofService(service, hostname, around)],
    ...[...entries].sort(byAge).map((entry) => ofEntry(entry, hostname, around)),
  ];
  if (base === undefined || others.length === 0) return base;
  return others.reduce(joined, base);
}

/** The older entry first. */
export function byAge(a: ConfigObject, b: ConfigObject): number {
  return a.meta.creationTimestamp - b.meta.creationTimestamp || (a.key < b.key ? -1 : 1);
}

function joined(base: ServiceMessage, other: ServiceMessage): ServiceMessage {
  const ports = new Map<number, Port>();
  for (const port of [...base.ports ?? [], ...other.ports ?? []]) {
    if (!ports.has(port.service_port!)) ports.set(port.service_port!, port);
  }
  const known = new Set((base.addresses ?? []).map(addressText));
  return {
    ...base,
    addresses: [...base.addresses ?? [], ...(other.addresses ?? []).filter((one) => !known.has(addressText(one)))],
    ports: [...ports.values()],
    subject_alt_names: [...new Set([...base.subject_alt_names ?? [], ...other.subject_alt_names ?? []])],
  };
}

function addressText({ address, length }: istio.workload.NetworkAddress): string {
  return `${address}/${length}`;
}

function ofService(
  { key, meta: { namespace, name, labels, annotations }, spec }: Fact<"Service">,
  hostname: string,
  around: ServiceSurroundings,
): ServiceMessage {
  const addresses = spec.clusterIPs.flatMap((ip) => serviceAddress(ip, around.network) ?? []);
  const distribution = distributionOf(
    spec.trafficDistribution,
    annotations[DISTRIBUTION] || around.namespaceAnnotations(namespace)[DISTRIBUTION],
  );
  const balancing = loadBalancing({
    ...distribution === undefined ? {} : { trafficDistribution: distribution },
    ...spec.internalTrafficPolicy === "Local" ? { nodeLocal: true } : {},
    ...spec.publishNotReadyAddresses ? { publishNotReadyAddresses: true } : {},
  });
  const isGateway = isWaypointPart(labels) || isEastWestPart(labels);
  const waypoint = isGateway ? undefined : around.waypoint({ key, namespace, labels, sort: "service" });
  return {
    ...{ name, namespace, hostname, addresses, ports: servicePorts(spec.ports) },
    ...waypoint === undefined ? {} : { waypoint },
    ...balancing === undefined ? {} : { load_balancing: balancing },
    ip_families: spec.families === undefined ? familiesOf(addresses) : wantedFamilies(spec.families),
  };
}

function wantedFamilies(families: readonly IpFamily[]): istio.workload.IPFamilies {
  if (families.length > 1) return FAMILIES.both;
  return families[0] === "IPv6" ? FAMILIES.v6 : FAMILIES.v4;
}

function familiesOf(addresses: readonly istio.workload.NetworkAddress[]): istio.workload.IPFamilies {
  const has = (bytes: number) => addresses.some(({ address }) => address?.length === bytes);
  if (has(4)) return has(16) ? FAMILIES.both : FAMILIES.v4;
  return has(16) ? FAMILIES.v6 : FAMILIES.none;
}

/** Whether no workload stands behind the hosts of an entry: connections go where the client sends them. */
function isPassedThrough({ spec: { resolution } }: ConfigObject<"ServiceEntry">): boolean {
  return resolution === "NONE" || resolution === "DYNAMIC_DNS";
}

/**
 * A host of an entry. A tunnel refuses connections to an address without workloads. So an entry that passes connections
 * through has its addresses only for its waypoint.
 */
function ofEntry(
  entry: ConfigObject<"ServiceEntry">,
  hostname: string,
  around: ServiceSurroundings,
): ServiceMessage {
  const { key, meta: { namespace, name, labels, annotations }, spec } = entry;
  const waypoint = around.waypoint({ key, namespace, labels, sort: "service" });
  const isReached = !isPassedThrough(entry) || waypoint !== undefined;
  const addresses = isReached ? addressesOf(entry, hostname, around) : [];
  const distribution = distributionOf(undefined, annotations[DISTRIBUTION]);
  const balancing = loadBalancing(distribution === undefined ? {} : { trafficDistribution: distribution });
  return {
    ...{ name, namespace, hostname, ports: entryPorts(spec.ports ?? []) },
    addresses: addresses.flatMap((text) => serviceAddress(text, around.network) ?? []),
    subject_alt_names: [...new Set(spec.subjectAltNames ?? [])],
    ...waypoint === undefined ? {} : { waypoint },
    ...balancing === undefined ? {} : { load_balancing: balancing },
  };
}

/** The written addresses of an entry, else the addresses that are assigned to the host. */
function addressesOf(
  entry: ConfigObject<"ServiceEntry">,
  hostname: string,
  around: ServiceSurroundings,
): readonly string[] {
  const { addresses = [], resolution } = entry.spec;
  if (addresses.length > 0) return [...new Set(addresses)];
  if (hostname.startsWith("*") || resolution === "NONE") return [];
  return around.assigned(entry).filter(({ host }) => host.toLowerCase() === hostname).map(({ value }) => value);
}
