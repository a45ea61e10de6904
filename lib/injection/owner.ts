/**
 * The workload of a pod, found from the pod's controller.
 *
 * @module
 */
import type { InjectedPod } from "./pod.ts";

export interface WorkloadOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** `kubernetes://apis/apps/v1/namespaces/shop/deployments/cart`, the usual form in telemetry. */
  readonly uri: string;
}

/** Name of a CronJob's Job. The digits are the minute, or the second, of the start. */
const MADE_BY_CRON = /^(.+)-\d{8,10}$/;

/** Finds the workload. A controller's own controller is found by the names alone, without a question to the API. */
export function ownerOf({ metadata }: InjectedPod, namespace: string): WorkloadOwner {
  const controller = metadata.ownerReferences?.find((one) => one.controller === true);
  if (controller === undefined) {
    const name = metadata.name || (metadata.generateName ?? "").replace(/-$/, "");
    return owner("v1", "Pod", namespace, name);
  }
  const { apiVersion, kind, name } = controller;
  const hash = metadata.labels?.["pod-template-hash"];
  if (kind === "ReplicaSet" && hash && name.endsWith(`-${hash}`)) {
    const deployment = name.slice(0, -hash.length - 1);
    return owner(apiVersion, "Deployment", namespace, deployment);
  }
  const cron = kind === "Job" ? MADE_BY_CRON.exec(name)?.[1] : undefined;
  if (cron !== undefined) return owner(apiVersion, "CronJob", namespace, cron);
  const config = metadata.labels?.["deploymentconfig"];
  if (kind === "ReplicationController" && config) {
    return owner("apps.openshift.io/v1", "DeploymentConfig", namespace, config);
  }
  return owner(apiVersion, kind, namespace, name);
}

function owner(apiVersion: string, kind: string, namespace: string, name: string): WorkloadOwner {
  const uri = `kubernetes://apis/${apiVersion}/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`;
  return { apiVersion, kind, name, uri };
}
