/**
 * The input for the sidecar of one pod. Everything was read and checked before.
 *
 * @module
 */
import type { ProxySettings } from "../../config/mesh/types.ts";
import type { AnnotationReader } from "../annotation_reader.ts";
import type { JsonTree } from "../merge.ts";
import type { WorkloadOwner } from "../owner.ts";
import type { PodContainer } from "../pod.ts";
import type { Texts } from "../spelling.ts";
import type { PodTraffic } from "../traffic.ts";
import type { InjectionRequest, InjectionSettings } from "../types.ts";
import { nameOf, roleOf } from "../names.ts";

/** Name of the proxy's container. */
export const PROXY = nameOf("proxy");

/** Whether a container is the proxy, in either spelling. */
export function isProxy(container: { readonly name: string }): boolean {
  return roleOf(container) === "proxy";
}

/** Whether an init container goes on running beside the applications (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/). */
export function goesOn({ restartPolicy }: Pick<PodContainer, "restartPolicy">): boolean {
  return restartPolicy === "Always";
}

export interface SidecarInput {
  /** A gateway's proxy is a router. No traffic is redirected to routers and waypoints. */
  readonly role: "sidecar" | "router" | "waypoint";
  readonly settings: InjectionSettings;
  readonly request: InjectionRequest;
  /** Labels of the pod, with this project's keys. */
  readonly labels: Texts;
  readonly reader: AnnotationReader;
  readonly owner: WorkloadOwner;
  readonly proxy: ProxySettings;
  readonly traffic: PodTraffic;
  /** Whether the proxy is a native sidecar, an init container that goes on running. */
  readonly native: boolean;
  /** The user's own fields for the proxy's container. */
  readonly own: PodContainer | undefined;
  /** User and group of the proxy. */
  readonly uid: number;
  readonly gid: number;
  /** User and group whose traffic is not redirected. */
  readonly exempt: { readonly uid: number; readonly gid: number };
  /** Containers of the application that start after its init containers: all but the proxy. */
  readonly applications: readonly PodContainer[];
  /** Init containers of the application that go on running. */
  readonly companions: readonly PodContainer[];
}

/** A part of a pod. Its fields are merged into the pod. */
export interface PodPart {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly containers: readonly PodContainer[];
  readonly initContainers: readonly PodContainer[];
  readonly volumes: readonly { readonly name: string; readonly [field: string]: unknown }[];
  readonly imagePullSecrets: readonly { readonly name: string }[];
  /** Further fields of the spec. */
  readonly rest: JsonTree;
}
