/**
 * The pod of a gateway or waypoint that the server deploys by itself: the same proxy as in an injected gateway pod, made
 * from the same settings.
 *
 * @module
 */
import { AnnotationReader } from "../annotation_reader.ts";
import { podProxySettings } from "../proxy_settings.ts";
import type { PodPart, SidecarInput } from "../sidecar/input.ts";
import { sidecarPart } from "../sidecar/sidecar.ts";
import { ownTexts, type Texts } from "../spelling.ts";
import { proxyIds, proxyOwner } from "./ids.ts";
import { BUILT_IN } from "../templates/built_in.ts";
import { podTraffic } from "../traffic.ts";
import type { InjectionSettings } from "../types.ts";
import { ownerOf } from "../owner.ts";

/** What is known of the pods before they exist. */
export interface GatewayPodRequest {
  readonly role: "router" | "waypoint";
  readonly namespace: string;
  /** Name of the Deployment of the pods. */
  readonly deployment: string;
  readonly account: string;
  readonly labels: Texts;
  readonly annotations: Texts;
  readonly namespaceAnnotations?: Texts;
}

/** Reads labels and annotations of the pods like injection. The reader keeps the mistakes. */
export function gatewayInput(request: GatewayPodRequest, settings: InjectionSettings): SidecarInput {
  const { role, namespace, deployment, account, namespaceAnnotations } = request;
  const { mesh, proxyConfigs, values } = settings;
  const labels = ownTexts(request.labels);
  const reader = new AnnotationReader(ownTexts(request.annotations));
  const read = podProxySettings({ mesh, proxyConfigs, namespace, labels, annotations: reader.annotations });
  if ("problems" in read) reader.problems.push(...read.problems);
  const proxy = "proxy" in read ? read.proxy : mesh.defaultConfig;
  const ids = proxyIds(settings.platform, namespaceAnnotations);
  reader.problems.push(...ids.problems);
  const pod = {
    metadata: {
      ...{ labels: { ...request.labels }, annotations: { ...request.annotations } },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: deployment, controller: true }],
    },
    spec: { containers: [], serviceAccountName: account },
  };
  return {
    ...{ role, settings, labels, reader, proxy, native: false, own: undefined },
    request: { pod, namespace, ...(namespaceAnnotations !== undefined && { namespaceAnnotations }) },
    traffic: podTraffic(reader, values, proxy),
    owner: ownerOf(pod, namespace),
    ...proxyOwner({}, ids, false),
    ...{ applications: [], companions: [] },
  };
}

/** The proxy of the pod, as the built-in template `gateway` makes it. A waypoint listens only on high ports. */
export function gatewayPart(input: SidecarInput): PodPart {
  return input.role === "waypoint" ? { ...sidecarPart(input), rest: {} } : BUILT_IN["gateway"]!(input);
}
