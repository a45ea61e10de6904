/**
 * Labels and annotations of an injected pod.
 *
 * @module
 */
import { istioKey } from "../../config/spelling/istio.ts";
import { CHAINED_NETWORK, withNetwork } from "../multus.ts";
import { hasOwnKey } from "../spelling.ts";
import { isProxy, type SidecarInput } from "./input.ts";
import { redirectionAnnotations } from "../traffic.ts";

/** Longest value of a label. */
const MAX_LABEL = 63;
/**
 * Tells callers that the pod accepts mutual TLS. The label is written in both spellings: Istio's control plane reads only
 * its own label, and without that label Istio's sidecars would send plain text, which STRICT refuses.
 */
const TLS_MODE = "security.mesh.io/tlsMode";
const NETWORKS = "k8s.v1.cni.cncf.io/networks";

/** Labels for the pod, without labels that the pod already has. */
export function sidecarLabels(input: SidecarInput): Record<string, string> {
  const { labels, owner, proxy, settings: { values: { global } }, request: { pod, parameters } } = input;
  const first = (...keys: string[]) => keys.map((key) => labels[key]).find((text) => text);
  const network = parameters?.network || global.network;
  const wanted: Record<string, string> = {
    ...(input.role === "sidecar" && !hasOwnKey(pod.metadata.labels, TLS_MODE) &&
      { [TLS_MODE]: "mesh", [istioKey(TLS_MODE)]: "istio" }),
    ...(input.role === "sidecar" && proxy.proxyMetadata["MESH_META_ENABLE_HBONE"] === "true" &&
      { "networking.mesh.io/tunnel": "http" }),
    "service.mesh.io/canonical-name": first("app.kubernetes.io/name", "app") ?? owner.name,
    "service.mesh.io/canonical-revision": first("app.kubernetes.io/version", "version") ?? "latest",
    ...(network !== "" && { "topology.mesh.io/network": network }),
  };
  const absent = Object.entries(wanted).filter(([key, value]) => value !== "" && !hasOwnKey(pod.metadata.labels, key));
  return Object.fromEntries(absent.map(([key, value]) => [key, labelValue(value)]));
}

/** Shortened to the limit, so that the value ends with a letter or a digit. */
function labelValue(text: string): string {
  return /^[^]*[A-Za-z0-9]/.exec(text.slice(0, MAX_LABEL))?.[0] ?? "";
}

/** Annotations with precedence over the pod's. */
export function sidecarAnnotations(input: SidecarInput): Record<string, string> {
  const { role, settings: { revision, values }, traffic, applications, request: { pod } } = input;
  const { cni } = values.pilot;
  const first = applications.find((one) => !isProxy(one))?.name;
  const annotations: Record<string, string> = { "mesh.io/rev": revision || "default" };
  if (first !== undefined) {
    for (const key of ["kubectl.kubernetes.io/default-container", "kubectl.kubernetes.io/default-logs-container"]) {
      if (pod.metadata.annotations?.[key] === undefined) annotations[key] = first;
    }
  }
  if (!cni.enabled || traffic.mode === "NONE" || role !== "sidecar") return annotations;
  Object.assign(annotations, redirectionAnnotations(traffic));
  if (cni.provider !== "multus") return annotations;
  annotations[NETWORKS] = withNetwork(pod.metadata.annotations?.[NETWORKS] ?? "", CHAINED_NETWORK);
  return annotations;
}
