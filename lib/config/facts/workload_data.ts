/**
 * The facts about workloads: pods, and the kinds that make pods from a template. All kinds have the shape of their
 * pods.
 *
 * @module
 */

/** Every kind of workloads. */
export const WORKLOAD_KINDS = [
  "Pod",
  "Deployment",
  "StatefulSet",
  "DaemonSet",
  "ReplicaSet",
  "Job",
  "CronJob",
] as const;

/** Name of a kind of workloads. */
export type WorkloadKind = (typeof WORKLOAD_KINDS)[number];

/** A port declared by a container. */
export interface ContainerPortData {
  /** Empty: none. */
  readonly name: string;
  readonly port: number;
  /** `TCP` (the default), `UDP` or `SCTP`. */
  readonly protocol: string;
}

/** A container of a pod. */
export interface ContainerData {
  readonly name: string;
  /** Empty: not in the manifest. */
  readonly image: string;
  /** Runs before other containers, or beside them as an orchestrator's sidecar. */
  readonly init: boolean;
  /** An init container that is always restarted, and so runs beside the others. */
  readonly sidecar?: true;
  readonly ports: readonly ContainerPortData[];
  /** The user of the container; absent: the container does not say. */
  readonly runAsUser?: number;
}

/** The pods of a workload. */
export interface WorkloadData {
  /** Labels of the pods, in our spelling, for selectors of services and policies. Of a Pod: its own labels. */
  readonly labels: Readonly<Record<string, string>>;
  /** The mesh's annotations of the pods: annotations of a domain `mesh.io`, in our spelling. */
  readonly annotations: Readonly<Record<string, string>>;
  /** `default` where none is named. */
  readonly serviceAccount: string;
  readonly hostNetwork: boolean;
  readonly containers: readonly ContainerData[];
  /** The user of all containers; absent: the pod does not say. */
  readonly runAsUser?: number;
  /** Desired number of pods; 1 if not written; absent for kinds without a number. */
  readonly replicas?: number;
  /**
   * The object that made this object, as `Kind/name`, in the same namespace: of a Pod its ReplicaSet, of a ReplicaSet
   * its Deployment.
   */
  readonly owner?: string;
  /** Addresses of a Pod from an orchestrator, or from a file that an orchestrator wrote; absent: none. */
  readonly addresses?: readonly string[];
  /** First part of a Pod's own DNS name, if different from the Pod's name. */
  readonly hostname?: string;
  /** Name of the headless service of a Pod's DNS name. */
  readonly subdomain?: string;
  /** Another object made the Pod, under a generated name. */
  readonly generated?: true;
  /** `Running`, `Pending`, ...: absent in a person's manifest. */
  readonly phase?: string;
  /** More facts of a Pod that runs, or ran, on a node; absent in a person's manifest. */
  readonly running?: RunningPodData;
}

/** A Pod with a node. */
export interface RunningPodData {
  readonly nodeName?: string;
  /** The condition `Ready`. */
  readonly ready: boolean;
  /** The Pod has been asked to end. */
  readonly deleting: boolean;
}
