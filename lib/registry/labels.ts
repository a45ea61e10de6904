/**
 * Labels that registries read from workloads, and labels that registries add to endpoints.
 *
 * @module
 */
import { ownClusterName } from "../config/spelling/cluster_name.ts";

/** Labels by key. */
export type Labels = Readonly<Record<string, string>>;

/** Set by a workload's owner: `region/zone/subzone`, with dots for slashes where a label value must have none. */
export const LOCALITY_LABELS: readonly string[] = ["mesh-locality", "istio-locality"];
/** Whether the workload accepts mutual TLS of the mesh. */
export const TLS_MODE_LABEL = "security.mesh.io/tlsMode";
/** Ways of tunnelling connections to a workload, comma separated. */
const TUNNEL_LABEL = "networking.mesh.io/tunnel";
/** Network of a workload. */
export const NETWORK_LABEL = "topology.mesh.io/network";
/** Cluster of a workload. */
export const CLUSTER_LABEL = "topology.mesh.io/cluster";
/** Subzone of a workload; region and zone have the orchestrator's own labels. */
export const SUBZONE_LABEL = "topology.mesh.io/subzone";
/** Region of a workload. */
export const REGION_LABEL = "topology.kubernetes.io/region";
/** Zone of a workload. */
export const ZONE_LABEL = "topology.kubernetes.io/zone";
/** Node of a workload. */
export const NODE_LABEL = "kubernetes.io/hostname";

/** Label of all objects that a controller deploys for a Gateway: the controller. */
export const MANAGED_LABEL = "gateway.mesh.io/managed";
/** Controllers of gateways between networks, in the spelling of either project. */
const EAST_WEST_CONTROLLERS: ReadonlySet<string> = new Set([
  ...["mesh.io-eastwest-controller", "istio.io-eastwest-controller"],
]);

/** Whether labels are those of a gateway between networks, which takes HBONE: of its Service or its pods. */
export function isEastWestPart(labels: Labels): boolean {
  return EAST_WEST_CONTROLLERS.has(labels[MANAGED_LABEL] ?? "");
}

/** Values of the TLS mode label for "yes"; the second value is from manifests of Istio's users. */
const MESH_TLS_VALUES: ReadonlySet<string> = new Set(["mesh", "istio"]);

/**
 * Whether a workload with these labels accepts mutual TLS: the label decides; without a label, an identity means yes.
 */
export function tlsModeOf(labels: Labels, serviceAccount: string): "mesh" | "disabled" {
  const mode = labels[TLS_MODE_LABEL];
  if (mode !== undefined) return MESH_TLS_VALUES.has(mode) ? "mesh" : "disabled";
  return serviceAccount === "" ? "disabled" : "mesh";
}

/** Label of a pod or namespace that asks for the tunnel of the node: `ambient`; of a pod also `none`. */
export const DATAPLANE_MODE = "mesh.io/dataplane-mode";

/**
 * Annotation of a pod whose connections the node's tunnel takes: `enabled`, or `pending` while no tunnel has
 * acknowledged the pod. The node agent writes it.
 */
export const REDIRECTION = "ambient.mesh.io/redirection";

/** Whether annotations say that the node's tunnel takes the connections of a pod. */
export function isCapturedPod(annotations: Labels): boolean {
  return annotations[REDIRECTION] === "enabled";
}

/** Whether an endpoint takes connections by HBONE, by itself or through the tunnel of its node. */
export function isHboneEndpoint(
  { labels, isCaptured }: { readonly labels: Labels; readonly isCaptured?: true },
): boolean {
  return isCaptured === true || takesHbone(labels);
}

/** Whether a workload with these labels takes connections by HBONE. */
export function takesHbone(labels: Labels): boolean {
  const ways = labels[TUNNEL_LABEL];
  return ways !== undefined && ways.split(",").includes("http");
}

/** The locality in the labels, or empty. */
export function localityOf(labels: Labels): string {
  for (const key of LOCALITY_LABELS) {
    const locality = labels[key];
    if (locality) return locality.includes("/") ? locality : locality.replaceAll(".", "/");
  }
  return "";
}

/** The place of an endpoint; empty strings: not known. */
export interface WorkloadPlace {
  readonly locality: string;
  readonly network: string;
  readonly clusterId: string;
  readonly nodeName?: string;
}

/**
 * The labels with the labels of the place, so that subsets and failover priorities may name them. The workload's own
 * network label stays.
 */
export function withPlace(labels: Labels, place: WorkloadPlace): Labels {
  const out: Record<string, string> = { ...labels };
  const [region, zone, subzone] = place.locality.split("/");
  if (region) out[REGION_LABEL] = region;
  if (zone) out[ZONE_LABEL] = zone;
  if (subzone) out[SUBZONE_LABEL] = subzone;
  if (place.clusterId) out[CLUSTER_LABEL] = ownClusterName(place.clusterId);
  if (place.nodeName) out[NODE_LABEL] = place.nodeName;
  if (place.network && !out[NETWORK_LABEL]) out[NETWORK_LABEL] = place.network;
  return out;
}

/** Whether labels contain all labels of a selector. A selector without labels selects nothing. */
export function selects(selector: Labels, labels: Labels): boolean {
  let some = false;
  for (const key in selector) {
    if (labels[key] !== selector[key]) return false;
    some = true;
  }
  return some;
}
