/**
 * Pods, workload entries and endpoints as workloads of node tunnels.
 *
 * @module
 */
import type { istio } from "../../proto/gen/types.ts";
import type { EndpointData, Fact } from "../config/facts/types.ts";
import type { WorkloadEntrySpec } from "../config/kinds/workload_entry/schema.ts";
import type { ConfigObject } from "../config/types.ts";
import { canonicalIp, isIp, isUnixSocket } from "../registry/address.ts";
import { isCapturedPod, type Labels, localityOf, NETWORK_LABEL, takesHbone } from "../registry/labels.ts";
import { hasEnded, workloadName } from "../registry/orch/pod.ts";
import { addressBytes, ipsOf } from "./addresses.ts";
import { isWaypointPart } from "../mesh/waypoints/marks.ts";
import type { ServedServices } from "./ports.ts";
import type { WaypointUser } from "../mesh/waypoints/policies.ts";
import type { Waypoint } from "./waypoints.ts";

type WorkloadMessage = istio.workload.Workload;

/** Numbers of enumerations. */
const HBONE = 1;
const POD = 2;
const UNHEALTHY = 1;
const HOST_NETWORK = 1;

/** What the messages of all workloads need beside their objects. */
export interface WorkloadSurroundings {
  readonly clusterId: string;
  /** Network of the cluster; empty: the default network. */
  readonly network: string;
  readonly trustDomain: string;
  readonly systemNamespace: string;
  /** `region/zone/subzone` of a node, or empty. */
  locality(node: string | undefined): string;
  /** The waypoint of an object, as tunnels get it; undefined: none. */
  waypoint(user: WaypointUser): istio.workload.GatewayAddress | undefined;
  /** The Gateway of a name in a namespace, as a waypoint. */
  gateway(namespace: string, name: string): Waypoint | undefined;
  /** Names `namespace/name` of the policies that select a workload, sorted. */
  policies(namespace: string, labels: Labels): readonly string[];
}

/** Name of a pod's resource. */
export function podName(clusterId: string, namespace: string, name: string): string {
  return `${clusterId}//Pod/${namespace}/${name}`;
}

/** The label with the name of a Gateway on the Gateway's pods. */
const GATEWAY_NAME = "gateway.networking.k8s.io/gateway-name";

/** A pod. Undefined: the pod has no address yet, or has ended. */
export function podWorkload(
  { meta: { namespace, name }, spec }: Fact<"Pod">,
  services: ServedServices,
  around: WorkloadSurroundings,
): WorkloadMessage | undefined {
  const addresses = ipsOf(spec.addresses ?? []);
  if (addresses.length === 0 || hasEnded(spec)) return undefined;
  const { labels, annotations, serviceAccount, hostNetwork, running } = spec;
  const isTunnel = namespace === around.systemNamespace && labels["app"] === "ztunnel";
  const isNative = takesHbone(labels);
  const isWaypoint = isWaypointPart(labels);
  const owner = workloadName(name, spec);
  return {
    ...common({ uid: podName(around.clusterId, namespace, name), name, namespace, labels, owner }, services, around),
    addresses: addresses.map(addressBytes),
    network: around.network,
    tunnel_protocol: isNative || isCapturedPod(annotations) ? HBONE : 0,
    service_account: serviceAccount,
    ...isWaypoint
      ? ownTunnel(labels, namespace, around)
      : withWaypoint({ namespace, labels, sort: "workload" }, around),
    ...defined({ node: running?.nodeName }),
    native_tunnel: isNative && !isTunnel,
    status: running?.ready === true && !running.deleting ? 0 : UNHEALTHY,
    ...placed(localityOf(labels) || around.locality(running?.nodeName)),
    network_mode: hostNetwork ? HOST_NETWORK : 0,
  };
}

/** A workload outside of the orchestrator. */
export interface EntryWorkload {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** Labels for selectors and names. */
  readonly labels: Labels;
  /** Labels that ask for a waypoint. */
  readonly asking: Labels;
  readonly spec: WorkloadEntrySpec;
  readonly isHealthy: boolean;
}

/** A WorkloadEntry. Labels of the object win over labels of its spec. */
export function workloadOfEntry(
  { meta: { namespace, name, labels: own }, spec, healthy }: ConfigObject<"WorkloadEntry">,
  clusterId: string,
): EntryWorkload {
  const uid = `${clusterId}/networking.istio.io/WorkloadEntry/${namespace}/${name}`;
  const labels = { ...spec.labels, ...own };
  return { uid, name, namespace, labels, asking: labels, spec, isHealthy: healthy !== false };
}

/**
 * The workloads that a ServiceEntry lists. Several of the same address have different names: the second is
 * `.../ADDRESS/2`.
 */
export function inlineWorkloads(
  { meta: { namespace, name, labels: asking }, spec: { endpoints = [] } }: ConfigObject<"ServiceEntry">,
  clusterId: string,
): EntryWorkload[] {
  const seen = new Map<string, number>();
  return endpoints.map((spec) => {
    const address = spec.address ?? "";
    const count = (seen.get(address) ?? 0) + 1;
    seen.set(address, count);
    const place = `${clusterId}/networking.istio.io/ServiceEntry/${namespace}/${name}/${address}`;
    const uid = count === 1 ? place : `${place}/${count}`;
    return { uid, name, namespace, labels: spec.labels ?? {}, asking, spec, isHealthy: true };
  });
}

/** The workload that stands for a host of a ServiceEntry whose address is found by the host's name. */
export function hostWorkload(
  { meta: { namespace, name, labels: asking } }: ConfigObject<"ServiceEntry">,
  host: string,
  clusterId: string,
): EntryWorkload {
  const uid = `${clusterId}/networking.istio.io/ServiceEntry/${namespace}/${name}/${host}`;
  return { uid, name, namespace, labels: {}, asking, spec: { address: host }, isHealthy: true };
}

/** A workload outside of the orchestrator. Undefined: tunnels cannot dial the address. */
export function entryWorkload(
  entry: EntryWorkload,
  services: ServedServices,
  around: WorkloadSurroundings,
): WorkloadMessage | undefined {
  const { spec, labels, name, namespace, asking } = entry;
  const address = canonicalIp(spec.address ?? "");
  const network = spec.network || labels[NETWORK_LABEL] || around.network;
  if (isUnixSocket(address) || (address === "" && network === around.network)) return undefined;
  const isNative = takesHbone(labels);
  return {
    ...common({ uid: entry.uid, name, namespace, labels, owner: name }, services, around),
    ...isIp(address) ? { addresses: [addressBytes(address)] } : { hostname: address },
    network,
    tunnel_protocol: isNative ? HBONE : 0,
    native_tunnel: isNative,
    service_account: spec.serviceAccount ?? "",
    ...withWaypoint({ namespace, labels: asking, sort: "workload" }, around),
    status: entry.isHealthy ? 0 : UNHEALTHY,
    ...placed(spec.locality ?? localityOf(labels)),
    ...spec.weight ? { capacity: { value: spec.weight } } : {},
  };
}

/** An endpoint of a slice without a pod. The address may belong to a pod or a node, so it is not looked up. */
export function sliceWorkload(
  { meta: { namespace, name } }: Fact<"EndpointSlice">,
  { ready, nodeName }: EndpointData,
  address: string,
  services: ServedServices,
  around: WorkloadSurroundings,
): WorkloadMessage {
  const uid = `${around.clusterId}/discovery.k8s.io/EndpointSlice/${namespace}/${name}/${address}`;
  return {
    ...common({ uid, name, namespace, labels: {}, owner: name }, services, around),
    authorization_policies: [],
    addresses: [addressBytes(address)],
    network: around.network,
    ...defined({ node: nodeName }),
    status: ready ? 0 : UNHEALTHY,
    ...placed(around.locality(nodeName)),
    network_mode: HOST_NETWORK,
  };
}

interface WorkloadNames {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly labels: Labels;
  /** Name of the object that made the workload. */
  readonly owner: string;
}

function common(
  { uid, name, namespace, labels, owner }: WorkloadNames,
  services: ServedServices,
  { clusterId, trustDomain, policies }: WorkloadSurroundings,
): WorkloadMessage {
  const served = services.message();
  return {
    uid,
    name,
    namespace,
    trust_domain: trustDomain === "cluster.local" ? "" : trustDomain,
    canonical_name: labels["service.mesh.io/canonical-name"] ?? labels["app.kubernetes.io/name"] ?? labels["app"] ??
      owner,
    canonical_revision: labels["service.mesh.io/canonical-revision"] ?? labels["app.kubernetes.io/version"] ??
      labels["version"] ?? "latest",
    workload_type: POD,
    workload_name: owner,
    authorization_policies: [...policies(namespace, labels)],
    cluster_id: clusterId,
    ...served === undefined ? {} : { services: served },
  };
}

function withWaypoint(user: WaypointUser, around: WorkloadSurroundings): Pick<WorkloadMessage, "waypoint"> {
  return defined({ waypoint: around.waypoint(user) });
}

/** A waypoint has no waypoint of its own. Its connections may come in another form than HBONE. */
function ownTunnel(
  labels: Labels,
  namespace: string,
  around: WorkloadSurroundings,
): Pick<WorkloadMessage, "application_tunnel"> {
  const name = labels[GATEWAY_NAME];
  return name === undefined ? {} : defined({ application_tunnel: around.gateway(namespace, name)?.inbound });
}

function placed(locality: string): Pick<WorkloadMessage, "locality"> {
  if (locality === "") return {};
  const [region, zone, subzone] = locality.split("/");
  return {
    locality: { ...region ? { region } : {}, ...zone ? { zone } : {}, ...subzone ? { subzone } : {} },
  };
}

/** The fields with a value. */
function defined<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const found: { [K in keyof T]?: NonNullable<T[K]> } = {};
  for (const key in fields) {
    const value = fields[key];
    if (value !== undefined && value !== null) found[key] = value;
  }
  return found;
}
