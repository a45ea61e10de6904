/**
 * The input from which the sidecar of one pod is built: everything is read and checked before.
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

/** Name of the proxy's container. */
export const PROXY = "mesh-proxy";
/** Names that mean that container: a pod that was written for Istio keeps its own. */
const PROXY_NAMES: readonly string[] = [PROXY, "istio-proxy"];

/** Whether a container is the proxy. */
export function isProxy({ name }: { readonly name: string }): boolean {
  return PROXY_NAMES.includes(name);
}

/** See the module. */
export interface SidecarInput {
  /** A gateway's proxy is a router: nothing is redirected to it. */
  readonly role: "sidecar" | "router";
  readonly settings: InjectionSettings;
  readonly request: InjectionRequest;
  /** Labels of the pod, by this project's keys. */
  readonly labels: Texts;
  readonly reader: AnnotationReader;
  readonly owner: WorkloadOwner;
  readonly proxy: ProxySettings;
  readonly traffic: PodTraffic;
  /** The proxy is an init container that goes on. */
  readonly native: boolean;
  /** The user's own words about the proxy's container. */
  readonly own: PodContainer | undefined;
  /** User and group under which the proxy runs. */
  readonly uid: number;
  readonly gid: number;
  /** User and group whose traffic is not redirected. */
  readonly exempt: { readonly uid: number; readonly gid: number };
  /** Containers of the application: all but the proxy. */
  readonly applications: readonly PodContainer[];
}

/** A part of a pod: its fields are laid over the pod. */
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
