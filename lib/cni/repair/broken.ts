/**
 * Finds the pods that started before the plugin was installed. Their validation container finds no redirection and ends
 * with a code of its own, again and again. Pure.
 *
 * @module
 */
import type { Pod, Termination } from "../pods/pod.ts";
import type { PodFilter } from "../pods/source.ts";

export interface RepairOptions {
  /** Redirects pods in place. Takes precedence over deleting, which takes precedence over labelling. */
  readonly repairPods: boolean;
  readonly deletePods: boolean;
  readonly labelPods: boolean;
  readonly labelKey: string;
  readonly labelValue: string;
  /** Undefined: pods of all nodes. */
  readonly nodeName: string | undefined;
  /** Empty: pods without the annotation are examined too. */
  readonly sidecarAnnotation: string;
  readonly fieldSelectors: string;
  readonly labelSelectors: string;
  /** Empty: any init container. */
  readonly initContainerName: string;
  /** 0: any code. */
  readonly initContainerExitCode: number;
  /** Undefined or empty: any message. */
  readonly terminationMessage: string | undefined;
}

/** The pods to be watched. */
export function repairFilter(options: RepairOptions): PodFilter {
  const node = options.nodeName === undefined ? [] : [`spec.nodeName=${options.nodeName}`];
  return {
    labelSelector: options.labelSelectors,
    fieldSelector: [options.fieldSelectors, ...node].filter((part) => part !== "").join(","),
  };
}

/** True for a pod that started without redirection, and is not ending already. */
export function isBroken(pod: Pod, options: RepairOptions): boolean {
  if (pod.ending) return false;
  // A pod with Istio's annotation is a matter of Istio's plugin and of its repair.
  if (options.sidecarAnnotation !== "" && !(options.sidecarAnnotation in pod.annotations)) return false;
  return pod.initStatuses.some((status) => {
    if (options.initContainerName !== "" && !containerNames(options.initContainerName).includes(status.name)) {
      return false;
    }
    // After a successful end the pod has redirection, even after earlier failures.
    if (status.ended !== undefined && (status.ended.exitCode === 0 || status.ended.reason === "Completed")) {
      return false;
    }
    return status.endedBefore !== undefined && matches(status.endedBefore, options);
  });
}

function matches(end: Termination, options: RepairOptions): boolean {
  const message = (options.terminationMessage ?? "").trim();
  return (message === "" || message === end.message.trim()) &&
    (options.initContainerExitCode === 0 || options.initContainerExitCode === end.exitCode);
}

function containerNames(name: string): string[] {
  return name === "mesh-validation" ? [name, "istio-validation"] : [name];
}
