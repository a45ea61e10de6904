/**
 * The facts about workloads: pods, and the kinds that make pods from a template. All have one shape, that of their
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

/** A port that a container declares. */
export interface ContainerPortData {
  /** Empty where it has none. */
  readonly name: string;
  readonly port: number;
  /** `TCP` (the default), `UDP` or `SCTP`. */
  readonly protocol: string;
}

/** A container of a pod. */
export interface ContainerData {
  readonly name: string;
  /** Empty where the manifest leaves it out. */
  readonly image: string;
  /** Runs before the others, or beside them as a sidecar of the orchestrator's own sort. */
  readonly init: boolean;
  /** It is one of those that run beside the others: an init container that is restarted always. */
  readonly sidecar?: true;
  readonly ports: readonly ContainerPortData[];
  /** The user it runs as, where the container itself says so. */
  readonly runAsUser?: number;
}

/** The pods of a workload. */
export interface WorkloadData {
  /** Labels of its pods, in our spelling: what services and policies select by. Of a Pod its own. */
  readonly labels: Readonly<Record<string, string>>;
  /** Annotations of its pods that are the mesh's: those with a domain `mesh.io`, in our spelling. */
  readonly annotations: Readonly<Record<string, string>>;
  /** `default` where none is named. */
  readonly serviceAccount: string;
  readonly hostNetwork: boolean;
  readonly containers: readonly ContainerData[];
  /** The user that all containers run as, where the pod says so. */
  readonly runAsUser?: number;
  /** Pods that are wanted: 1 where nothing is written; absent for kinds that do not count them. */
  readonly replicas?: number;
  /** The object that made this one, as `Kind/name`, in its namespace: of a Pod its ReplicaSet, of that its Deployment. */
  readonly owner?: string;
  /** Addresses of a Pod that has some: it was read from an orchestrator, or written to a file by it. */
  readonly addresses?: readonly string[];
  /** First part of a Pod's own DNS name, where it is not the Pod's name. */
  readonly hostname?: string;
  /** Name of the headless service under which a Pod has a DNS name. */
  readonly subdomain?: string;
  /** Something else made the Pod, under a name that it made up. */
  readonly generated?: true;
  /** `Running`, `Pending`, ...: absent in a manifest that a person wrote. */
  readonly phase?: string;
  /** More facts of a Pod that runs, or ran, somewhere; absent in a manifest that a person wrote. */
  readonly running?: RunningPodData;
}

/** A Pod that an orchestrator has given a node. */
export interface RunningPodData {
  readonly nodeName?: string;
  /** Its condition `Ready`. */
  readonly ready: boolean;
  /** It has been asked to end. */
  readonly deleting: boolean;
}
