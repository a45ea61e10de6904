/**
 * The locks of the duties: one object each, in the namespace of the server.
 *
 * If Istio has a lock for the same duty, this project's lock has the same name, apart from the project's name, and the
 * same resource. A config map carries the holder's revision, so that the default revision may take the lock; a lease
 * cannot.
 *
 * @module
 */
import type { ApiResource } from "../informer/resource.ts";

/** The resource that keeps a lock. */
export type LockForm = "ConfigMap" | "Lease";

/** The locks, by duty. */
export const LOCKS = {
  /** Ingress status. */
  "mesh-leader": "ConfigMap",
  /** Root certificates for every namespace. */
  "mesh-namespace-controller-election": "ConfigMap",
  /** The bundle of roots for the whole cluster. */
  "mesh-clustertrustbundle-controller-election": "ConfigMap",
  /** Exports of services to other clusters. */
  "mesh-serviceexport-controller-election": "ConfigMap",
  /** Status of the mesh's kinds, as proxies report. */
  "mesh-status-leader": "Lease",
  /** Status of the mesh's kinds, as the analysis finds. */
  "mesh-analyze-leader": "ConfigMap",
  /** Status of the kinds of the Gateway API. */
  "mesh-gateway-status-leader": "ConfigMap",
  /** Addresses of service entries. */
  "mesh-ip-autoallocate": "ConfigMap",
  /** Taints of nodes with a ready plugin. */
  "mesh-node-untaint": "ConfigMap",
  /** The webhooks' configurations. */
  "mesh-validation-controller-election": "ConfigMap",
  /** Workload entries of departed proxies. */
  "mesh-auto-registration": "ConfigMap",
} as const satisfies Readonly<Record<string, LockForm>>;

/** Name of a lock. */
export type LockName = keyof typeof LOCKS;

/** Where the locks of a form are. */
export const LOCK_RESOURCES: Readonly<Record<LockForm, ApiResource>> = {
  ConfigMap: { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true },
  Lease: { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease", namespaced: true },
};
