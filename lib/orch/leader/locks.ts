/**
 * The locks of the duties: one object each, in the namespace of the server.
 *
 * Where Istio has a lock for the same duty, ours is called the same but for the project's name, and is of the same
 * resource. A config map carries the holder's revision, so that the default revision may take it; a lease cannot.
 *
 * @module
 */
import type { ApiResource } from "../informer/resource.ts";

/** The kind of object that keeps a lock. */
export type LockForm = "ConfigMap" | "Lease";

/** The locks, by duty. */
export const LOCKS = {
  /** Ingress status. */
  "mesh-leader": "ConfigMap",
  /** Root certificates for every namespace. */
  "mesh-namespace-controller-election": "ConfigMap",
  /** The bundle of roots for the whole cluster. */
  "mesh-clustertrustbundle-controller-election": "ConfigMap",
  /** Services that are exported to other clusters. */
  "mesh-serviceexport-controller-election": "ConfigMap",
  /** Status of the mesh's kinds, as proxies report. */
  "mesh-status-leader": "Lease",
  /** Status of the mesh's kinds, as the analysis finds. */
  "mesh-analyze-leader": "ConfigMap",
  /** Status of the kinds of the Gateway API. */
  "mesh-gateway-status-leader": "ConfigMap",
  /** Addresses of service entries. */
  "mesh-ip-autoallocate": "ConfigMap",
  /** Taints of nodes whose plugin is ready. */
  "mesh-node-untaint": "ConfigMap",
  /** The webhooks' configurations. */
  "mesh-validation-controller-election": "ConfigMap",
  /** Workload entries whose proxies have gone. */
  "mesh-auto-registration": "ConfigMap",
} as const satisfies Readonly<Record<string, LockForm>>;

/** Name of a lock. */
export type LockName = keyof typeof LOCKS;

/** Where the locks of a form are. */
export const LOCK_RESOURCES: Readonly<Record<LockForm, ApiResource>> = {
  ConfigMap: { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true },
  Lease: { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease", namespaced: true },
};
