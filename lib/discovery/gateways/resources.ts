/**
 * The resources of deployed objects, and the Gateway that a deployed object belongs to.
 *
 * @module
 */
import { GATEWAY_NAME_LABEL } from "../../config/spelling/spelling.ts";
import { isManagedObject, MANAGED } from "../../gateway_api/deploy/names.ts";
import type { DeployedKind } from "../../gateway_api/deploy/types.ts";
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import type { ApiResource } from "../../orch/informer/resource.ts";

const of = (group: string, version: string, plural: string, kind: DeployedKind): ApiResource => ({
  ...{ group, version, plural, kind, namespaced: true },
});

export const DEPLOYED_RESOURCES: Readonly<Record<DeployedKind, ApiResource>> = {
  ServiceAccount: of("", "v1", "serviceaccounts", "ServiceAccount"),
  Deployment: of("apps", "v1", "deployments", "Deployment"),
  Service: of("", "v1", "services", "Service"),
  HorizontalPodAutoscaler: of("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
  PodDisruptionBudget: of("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"),
};

/** All kinds of deployed objects. */
export const DEPLOYED_KIND_NAMES = Object.keys(DEPLOYED_RESOURCES) as readonly DeployedKind[];

/** Kinds that exist only while an overlay asks for them. */
export const OPTIONAL_KINDS: readonly DeployedKind[] = ["HorizontalPodAutoscaler", "PodDisruptionBudget"];

/** The metadata of an object of the API. */
export interface LiveMetadata {
  readonly uid: string;
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly deleting: boolean;
}

/** Reads the metadata of an object. */
export function metadataOf({ metadata }: ApiJson): LiveMetadata {
  const { uid, resourceVersion, labels, annotations, deletionTimestamp } = isApiJson(metadata) ? metadata : {};
  return {
    ...{ uid: String(uid ?? ""), version: String(resourceVersion ?? "") },
    ...{ labels: textsOf(labels), annotations: textsOf(annotations) },
    deleting: typeof deletionTimestamp === "string",
  };
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  return isApiJson(value) ? value as Readonly<Record<string, string>> : {};
}

/** Name of the Gateway that an object was deployed for; undefined: the object was not deployed for a Gateway. */
export function gatewayOf(object: ApiJson): string | undefined {
  return metadataOf(object).labels[GATEWAY_NAME_LABEL];
}

/** Why the server must not change an existing object; undefined: the object is the Gateway's. */
export function whyForeign(object: ApiJson, gateway: string): string | undefined {
  const { labels } = metadataOf(object);
  if (!isManagedObject(labels)) {
    return `it exists already and lacks the label ${MANAGED}: remove it, or name another by annotations of the Gateway`;
  }
  const other = labels[GATEWAY_NAME_LABEL];
  if (other !== undefined && other !== gateway) return `it belongs to Gateway ${other}`;
  return undefined;
}
