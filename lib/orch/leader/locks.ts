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
  /** Addresses of service entries. */
  "mesh-ip-autoallocate": "ConfigMap",
  /** Taints of nodes with a ready plugin. */
  "mesh-node-untaint": "ConfigMap",
  /** The webhooks' configurations. */
  "mesh-validation-controller-election": "ConfigMap",
  /** Workload entries of departed proxies. */
  "mesh-auto-registration": "ConfigMap",
} as const satisfies Readonly<Record<string, LockForm>>;

/** Begin of the names of locks of which each revision has one. A revision follows. */
const OF_REVISIONS = {
  /** Deployments of the revision's Gateways. */
  "mesh-gateway-deployment-": "Lease",
  /** Status of the revision's Gateways and of what is attached to them. */
  "mesh-gateway-status-leader-": "Lease",
  /** Staged rollouts of the revision's objects. */
  "mesh-rollout-leader-": "Lease",
} as const satisfies Readonly<Record<string, LockForm>>;

/** Name of a lock that belongs to one revision. */
export type RevisionLockName = `${keyof typeof OF_REVISIONS}${string}`;

export type LockName = keyof typeof LOCKS | RevisionLockName;

/** The lock of a revision. @param revision `REVISION`; empty: `default` */
export function lockOfRevision(name: keyof typeof OF_REVISIONS, revision: string): RevisionLockName {
  return `${name}${revision || "default"}`;
}

/** The resource that keeps a lock. */
export function lockForm(lock: LockName): LockForm {
  if (Object.hasOwn(LOCKS, lock)) return LOCKS[lock as keyof typeof LOCKS];
  const begin = (Object.keys(OF_REVISIONS) as (keyof typeof OF_REVISIONS)[]).find((one) => lock.startsWith(one));
  // The type of names admits no other begin.
  return OF_REVISIONS[begin!];
}

/** Where the locks of a form are. */
export const LOCK_RESOURCES: Readonly<Record<LockForm, ApiResource>> = {
  ConfigMap: { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true },
  Lease: { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease", namespaced: true },
};
