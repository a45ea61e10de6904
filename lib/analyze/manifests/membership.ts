/**
 * Decides which pods get a proxy, by labels and annotations of the pods and of their namespace.
 *
 * @module
 */
import type { Fact, WorkloadData, WorkloadKind } from "../../config/facts/types.ts";
import type { StringMap } from "../../config/kinds/kinds.ts";
import { DATAPLANE_MODE, isCapturedPod } from "../../registry/labels.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/** Names of the proxy's container. */
const PROXY_CONTAINERS: ReadonlySet<string> = new Set(["mesh-proxy", "istio-proxy"]);

/** Whether a container is the proxy's. */
export function isProxyContainer({ name }: { readonly name: string }): boolean {
  return PROXY_CONTAINERS.has(name);
}

/** Labels and annotations of gateway pods. */
const GATEWAY_KEYS = ["istio", "gateway.networking.k8s.io/gateway-name", "inject.mesh.io/templates"] as const;

/** Whether pods belong to a gateway, by labels and annotations of installations, or by the proxy container. */
export function isGatewayWorkload({ spec: { labels, annotations, containers } }: Fact<WorkloadKind>): boolean {
  return GATEWAY_KEYS.some((key) => Object.hasOwn(labels, key) || Object.hasOwn(annotations, key)) ||
    containers.some(isProxyContainer);
}

/** Values of `app`, `k8s-app` and `mesh` for the parts of this project's own manifests. */
const OWN_PARTS: ReadonlySet<string> = new Set(["meshd", "pilot", "mesh-cni-node", "ingressgateway", "egressgateway"]);

/** Whether an object is a part of the mesh's own installation, by either project. Such objects are not judged. */
export function isControlPlane({ meta: { labels } }: { readonly meta: Pick<Fact["meta"], "labels"> }): boolean {
  if (Object.hasOwn(labels, "istio") || labels["release"] === "istio" || labels["release"] === "mesh") return true;
  return ["app", "k8s-app", "mesh"].some((key) => OWN_PARTS.has(labels[key] ?? ""));
}

/** Whether a selector selects a gateway of this project's manifests. */
export function isOwnGateway(selector: StringMap): boolean {
  return OWN_PARTS.has(selector["mesh"] ?? "");
}

const INJECT = "sidecar.mesh.io/inject";

/** The pod's own setting for injection; undefined: the pod has none. */
export function ownInjection({ labels, annotations }: WorkloadData): boolean | undefined {
  const word = labels[INJECT] ?? annotations[INJECT];
  return word === undefined ? undefined : word.toLowerCase() === "true";
}

/** Whether a namespace asks for injection; undefined: the Namespace object is not known. */
export function namespaceInjection(name: string, read: AnalysisReader): boolean | undefined {
  return asksForInjection(read.fact("Namespace", "", name)?.meta.labels);
}

/** Whether the labels of a namespace ask for injection; undefined: the labels are not known. */
export function asksForInjection(labels: StringMap | undefined): boolean | undefined {
  if (labels === undefined) return undefined;
  const written = labels["mesh-injection"];
  return written === undefined ? Object.hasOwn(labels, "mesh.io/rev") : written === "enabled";
}

/** Whether labels put a namespace into ambient mode. Labels for sidecars have precedence. */
export function isAmbientNamespace(labels: StringMap | undefined): boolean {
  return labels?.[DATAPLANE_MODE] === "ambient" && labels["mesh-injection"] !== "enabled" && !labels["mesh.io/rev"];
}

/** Whether pods are in ambient mode, by their own settings and the settings of the namespace. */
export function isAmbient({ spec, meta: { namespace } }: Fact<WorkloadKind>, read: AnalysisReader): boolean {
  if (isCapturedPod(spec.annotations)) return true;
  if (ownInjection(spec) === true || spec.containers.some(isProxyContainer)) return false;
  const own = spec.labels[DATAPLANE_MODE];
  // In an ambient namespace only `none` takes pods out.
  return own === "ambient" || own !== "none" && isAmbientNamespace(read.namespaceFact(namespace)?.meta.labels);
}

/** Whether pods have a proxy, or get one at creation. */
export function isInMesh(workload: Fact<WorkloadKind>, read: AnalysisReader): boolean {
  return hasProxy(workload, read) ?? false;
}

/** Whether pods are known to have neither a proxy nor the tunnel of the node. No policy acts on such pods. */
export function isOutsideMesh(workload: Fact<WorkloadKind>, read: AnalysisReader): boolean {
  return hasProxy(workload, read) === false && !isGatewayWorkload(workload) && !isAmbient(workload, read);
}

/** Whether pods have a proxy, or get one at creation; undefined: the Namespace object is not known. */
function hasProxy({ spec, meta: { namespace } }: Fact<WorkloadKind>, read: AnalysisReader): boolean | undefined {
  if (spec.containers.some(isProxyContainer)) return true;
  return ownInjection(spec) ?? namespaceInjection(namespace, read);
}
