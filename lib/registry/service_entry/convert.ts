/**
 * ServiceEntry and WorkloadEntry objects into the terms of registries: ports, endpoints, workloads.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import type { WorkloadEntrySpec } from "../../config/kinds/kinds.ts";
import { canonicalIp, isIp, isUnixSocket, virtualAddress } from "../address.ts";
import { type Labels, localityOf, NETWORK_LABEL, tlsModeOf, withPlace } from "../labels.ts";
import { parseProtocol } from "../protocol.ts";
import { distributionOf } from "../traffic_distribution.ts";
import { entryResolution, resolvesNames } from "./resolution.ts";
import type { Endpoint, Health, Resolution, Service, ServicePort, Workload } from "../types.ts";

/** Options of the conversion. */
export interface ConvertOptions {
  /** Cluster of all services and endpoints of entries. */
  readonly clusterId: string;
  /** Network of an endpoint without a network; default: empty (the unnamed network). */
  readonly networkOf?: (address: string, labels: Labels) => string;
  /** Workloads with this label (any value but empty) drain (`PILOT_DRAINING_LABEL`); empty: no workloads drain. */
  readonly drainingLabel: string;
}

/** The parts of a ServiceEntry that depend on the entry alone, made once. The registry combines the parts. */
export interface ConvertedEntry {
  /** Key of the object. */
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly createdAt: number;
  /** Lower case, each once. */
  readonly hosts: readonly string[];
  readonly addresses: readonly string[];
  readonly ports: readonly ServicePort[];
  readonly resolution: Resolution;
  readonly meshExternal: boolean;
  readonly exportTo: readonly string[];
  readonly labels: Labels;
  readonly subjectAltNames: readonly string[];
  /** Labels of the selected workloads; absent: the entry lists its endpoints. */
  readonly selector?: Labels;
  /** Ports of the selected workloads, all behind the entry's first port; absent: as the entry's ports say. */
  readonly targetPorts?: readonly number[];
  /** The listed endpoints, for each port of the entry. */
  readonly inline: readonly Endpoint[];
  readonly trafficDistribution?: NonNullable<Service["trafficDistribution"]>;
  /** By host, the addresses assigned in the entry's status. */
  readonly assigned: ReadonlyMap<string, readonly string[]>;
  /** False: the owner refuses allocated addresses (`networking.mesh.io/enable-autoallocate-ip: "false"`). */
  readonly allocatable: boolean;
  /** Only routes lead to the hosts. */
  readonly routesOnly?: true;
}

/** Sets of labels of an entry that are searched for an equal set. */
const MOST_SHARED = 16;

const NO_ENDPOINTS: readonly Endpoint[] = Object.freeze([]);
const NOTHING: readonly string[] = Object.freeze([]);
const NO_LABELS: Labels = Object.freeze({});
const NONE_ASSIGNED: ReadonlyMap<string, readonly string[]> = new Map();
const NO_PORTS: Readonly<Record<string, number>> = Object.freeze({});

const AUTO_ALLOCATE_LABEL = "networking.mesh.io/enable-autoallocate-ip";
const TRAFFIC_DISTRIBUTION_ANNOTATION = "networking.mesh.io/traffic-distribution";

/** The parts of a ServiceEntry. */
export function convertEntry(object: ConfigObject<"ServiceEntry">, options: ConvertOptions): ConvertedEntry {
  const { meta, spec } = object;
  const resolution = entryResolution(spec.resolution);
  const ports = (spec.ports ?? []).map((port): ServicePort => ({
    name: port.name,
    port: port.number,
    ...(port.targetPort ? { targetPort: port.targetPort } : {}),
    protocol: parseProtocol(port.protocol),
  }));
  const distribution = distributionOf(undefined, meta.annotations[TRAFFIC_DISTRIBUTION_ANNOTATION]);
  return {
    key: object.key,
    name: meta.name,
    namespace: meta.namespace,
    createdAt: meta.creationTimestamp,
    hosts: writtenOr([...new Set(spec.hosts.map((host) => host.toLowerCase()))], spec.hosts),
    addresses: writtenOr(
      [...new Set((spec.addresses ?? []).map(virtualAddress).filter((address) => address !== undefined))],
      spec.addresses ?? NOTHING,
    ),
    ports,
    resolution,
    meshExternal: spec.location === "MESH_EXTERNAL",
    exportTo: spec.exportTo ?? NOTHING,
    labels: meta.labels,
    subjectAltNames: spec.subjectAltNames === undefined ? NOTHING : [...new Set(spec.subjectAltNames)],
    ...(spec.workloadSelector ? { selector: spec.workloadSelector.labels ?? {} } : {}),
    ...(spec.internal?.targetPorts ? { targetPorts: spec.internal.targetPorts } : {}),
    inline: inlineEndpoints(spec.endpoints ?? [], meta.namespace, ports, options),
    ...(distribution ? { trafficDistribution: distribution } : {}),
    assigned: assignedAddresses(object.assigned),
    allocatable: meta.labels[AUTO_ALLOCATE_LABEL]?.toLowerCase() !== "false" && spec.internal === undefined,
    ...(spec.internal?.routesOnly ? { routesOnly: true } : {}),
  };
}

/** Addresses written by users, addresses assigned by the status, and addresses of the endpoints. */
export function exactAddresses({ addresses, assigned, inline }: ConvertedEntry): readonly string[] {
  return [...addresses, ...[...assigned.values()].flat(), ...inline.map(({ address }) => address)];
}

/** A wildcard stands for many hosts, and many hosts cannot share an address. */
export function isOneHost(host: string): boolean {
  return !host.startsWith("*");
}

/**
 * Whether the entry's hosts may get addresses: the hosts have no addresses, an address decides the destination, and the
 * owner agrees.
 */
export function takesAddresses({ addresses, resolution, allocatable }: ConvertedEntry): boolean {
  return addresses.length === 0 && resolution !== "passthrough" && allocatable;
}

/**
 * A list derived from a written list. If both are equal, the written list is returned, because most of many thousand
 * lists are equal.
 */
function writtenOr(made: readonly string[], written: readonly string[]): readonly string[] {
  return made.length === written.length && made.every((text, at) => text === written[at]) ? written : made;
}

/**
 * A WorkloadEntry as a workload. Labels of the object win over labels of its spec.
 *
 * @param health The health from probes.
 */
export function convertWorkload(
  object: ConfigObject<"WorkloadEntry">,
  health: Health,
  options: ConvertOptions,
): Workload {
  const { meta, spec } = object;
  const labels = { ...spec.labels, ...meta.labels };
  const address = canonicalIp(spec.address ?? "");
  return {
    id: object.key,
    name: meta.name,
    namespace: meta.namespace,
    kind: "workloadEntry",
    addresses: address === "" ? [] : [address],
    labels,
    serviceAccount: spec.serviceAccount ?? "",
    locality: spec.locality ?? localityOf(labels),
    network: networkOf(spec, labels, options),
    clusterId: options.clusterId,
    weight: spec.weight ?? 1,
    health: draining(labels, options) ? "draining" : health,
    ports: spec.ports ?? {},
    tlsMode: tlsModeOf(labels, spec.serviceAccount ?? ""),
  };
}

/**
 * The labels of a workload's endpoints: the workload's own labels and the labels of its place. Made once for all ports
 * and services.
 */
export function endpointLabels(workload: Workload): Labels {
  return withPlace(workload.labels, workload);
}

/**
 * The endpoint of a workload behind a port of a service.
 *
 * @returns Undefined: the resolution cannot use the address. An entry without an address (the endpoint's is empty) is
 * reached only through its network's gateway. A name needs a proxy that resolves names. A Unix socket needs a proxy
 * without name resolution (clusters that resolve names cannot have a socket as a host).
 */
export function workloadEndpoint(
  workload: Workload,
  labels: Labels,
  port: ServicePort,
  resolution: Resolution,
): Endpoint | undefined {
  const address = workload.addresses[0] ?? "";
  if (address === "" && (workload.kind !== "workloadEntry" || workload.network === "")) return undefined;
  if (address !== "" && !isIp(address) && isUnixSocket(address) === resolvesNames(resolution)) return undefined;
  const number = endpointPort(address, workload.ports, port);
  return endpointAt(workload, labels, { address, port: number, portName: port.name });
}

/**
 * The endpoints of a workload of a pool: each target port is an endpoint of the entry's only port. Undefined: the entry is
 * no pool.
 */
export function poolEndpoints(
  { ports, targetPorts }: ConvertedEntry,
  workload: Workload,
  labels: Labels,
): Endpoint[] | undefined {
  if (targetPorts === undefined) return undefined;
  const [portName, address] = [ports[0]?.name ?? "", workload.addresses[0] ?? ""];
  return isIp(address) ? targetPorts.map((port) => endpointAt(workload, labels, { address, port, portName })) : [];
}

/** An endpoint with all facts of its workload, at a place chosen by the caller. */
export function endpointAt(
  workload: Workload,
  labels: Labels,
  { address, port, portName }: Pick<Endpoint, "address" | "port" | "portName">,
): Endpoint {
  return {
    address,
    port,
    portName,
    labels,
    locality: workload.locality,
    network: workload.network,
    clusterId: workload.clusterId,
    weight: workload.weight,
    health: workload.health,
    serviceAccount: workload.serviceAccount,
    namespace: workload.namespace,
    workloadName: workload.name,
    tlsMode: workload.tlsMode,
    ...(workload.isCaptured ? { isCaptured: true as const } : {}),
  };
}

/** The endpoints of a service that the proxy finds by the service's host name: an endpoint for each port. */
export function hostEndpoints(host: string, entry: ConvertedEntry, clusterId: string): Endpoint[] {
  return entry.ports.map((port): Endpoint => ({
    address: host,
    port: port.targetPort ?? port.port,
    portName: port.name,
    labels: {},
    locality: "",
    network: "",
    clusterId,
    weight: 1,
    health: "healthy",
    serviceAccount: "",
    namespace: entry.namespace,
    workloadName: "",
    tlsMode: "disabled",
  }));
}

/**
 * The endpoints listed in an entry, for each of its ports. Endpoints with equal labels and place share their labels.
 */
function inlineEndpoints(
  listed: readonly WorkloadEntrySpec[],
  namespace: string,
  ports: readonly ServicePort[],
  options: ConvertOptions,
): readonly Endpoint[] {
  const found: Endpoint[] = [];
  const shared = new SharedLabels();
  for (const spec of listed) {
    // Without an address, only the gateway of the network leads to the endpoint.
    if (!spec.address && !spec.network) continue;
    const own = spec.labels ?? NO_LABELS;
    const { clusterId } = options;
    const address = canonicalIp(spec.address ?? "");
    const locality = spec.locality ?? localityOf(own);
    const network = networkOf(spec, own, options);
    const labels = shared.withPlace(own, { locality, network, clusterId });
    const serviceAccount = spec.serviceAccount ?? "";
    for (const port of ports) {
      // No spread, and the same order everywhere, so that all endpoints have the same, smallest form in memory.
      found.push({
        address,
        port: endpointPort(address, spec.ports ?? NO_PORTS, port),
        portName: port.name,
        labels,
        locality,
        network,
        clusterId,
        weight: spec.weight ?? 1,
        health: draining(own, options) ? "draining" : "healthy",
        serviceAccount,
        namespace,
        workloadName: "",
        tlsMode: tlsModeOf(own, serviceAccount),
      });
    }
  }
  return found.length === 0 ? NO_ENDPOINTS : found.slice(); // A copy has no room to grow.
}

/**
 * Labels with place of an entry's endpoints. Most of the labels are equal, and equal labels are the same object
 * already.
 */
class SharedLabels {
  readonly #known: { readonly own: Labels; readonly place: string; readonly labels: Labels }[] = [];

  withPlace(own: Labels, place: { readonly locality: string; readonly network: string; readonly clusterId: string }) {
    const at = `${place.locality}|${place.network}`;
    const known = this.#known.find((one) => one.own === own && one.place === at);
    if (known !== undefined) return known.labels;
    const labels = withPlace(own, place);
    if (this.#known.length < MOST_SHARED) this.#known.push({ own, place: at, labels });
    return labels;
  }
}

/** A socket has no port; else the workload's own port of this name, then the service's target port, then its port. */
function endpointPort(address: string, ports: Readonly<Record<string, number>>, port: ServicePort): number {
  if (isUnixSocket(address)) return 0;
  const own = Object.hasOwn(ports, port.name) ? ports[port.name] : undefined;
  return own || port.targetPort || port.port;
}

/** Addresses by host, IPv4 first, without texts that are not IP addresses. */
function assignedAddresses(rows: ConfigObject["assigned"]): ReadonlyMap<string, readonly string[]> {
  if (rows === undefined) return NONE_ASSIGNED;
  const found = new Map<string, string[]>();
  for (const { host, value } of rows) {
    if (!isIp(value)) continue;
    const key = host.toLowerCase();
    found.set(key, [...found.get(key) ?? [], canonicalIp(value)]);
  }
  for (const [host, list] of found) {
    found.set(host, [...new Set(list)].sort((a, b) => Number(a.includes(":")) - Number(b.includes(":"))));
  }
  return found;
}

function networkOf(spec: WorkloadEntrySpec, labels: Labels, options: ConvertOptions): string {
  return spec.network || labels[NETWORK_LABEL] || options.networkOf?.(spec.address ?? "", labels) || "";
}

function draining(labels: Labels, options: ConvertOptions): boolean {
  return options.drainingLabel !== "" && !!labels[options.drainingLabel];
}
