/**
 * A resource of the orchestrator's API, and the paths of its objects.
 *
 * @module
 */

/** A resource in one version. */
export interface ApiResource {
  /** Empty: the core group. */
  readonly group: string;
  readonly version: string;
  /** As in paths: `endpointslices`. */
  readonly plural: string;
  /** Kind of the objects. Items of a list do not have a kind. */
  readonly kind: string;
  readonly namespaced: boolean;
}

/** `v1`, `discovery.k8s.io/v1`. */
export function apiVersionOf({ group, version }: Pick<ApiResource, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

/**
 * The path of all objects of a resource.
 *
 * @param namespace Limits the list to one namespace; without effect for a resource without namespaces. Default: all.
 */
export function listPath(resource: ApiResource, namespace = ""): string {
  const { group, version, plural, namespaced } = resource;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${root}${namespaced && namespace !== "" ? `/namespaces/${encodeURIComponent(namespace)}` : ""}/${plural}`;
}

/** The path of one object. */
export function objectPath(resource: ApiResource, namespace: string, name: string): string {
  return `${listPath(resource, namespace)}/${encodeURIComponent(name)}`;
}

/** Selects the wanted objects of a resource. */
export interface ListScope {
  /** Default: all namespaces. */
  readonly namespace?: string;
  /** `key=value,...`. Default: all. */
  readonly labelSelector?: string;
  /** `spec.nodeName=n1,...`. Default: all. */
  readonly fieldSelector?: string;
  /** Only metadata is asked for and sent. Default: whole objects. */
  readonly metadataOnly?: boolean;
}
