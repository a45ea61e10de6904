/**
 * A pod as the workload behind endpoints.
 *
 * @module
 */
import type { ContainerData, ContainerPortData, Fact, ServicePortData } from "../../config/facts/types.ts";
import { sharedLabels } from "../../config/facts/shared_labels.ts";
import { canonicalIp, isIp } from "../address.ts";
import { samePlain } from "../content.ts";
import {
  isCapturedPod,
  type Labels,
  localityOf,
  NETWORK_LABEL,
  REGION_LABEL,
  SUBZONE_LABEL,
  tlsModeOf,
  withPlace,
  ZONE_LABEL,
} from "../labels.ts";
import type { ServedPort, Workload } from "../types.ts";
import type { OrchRegistryOptions } from "./options.ts";
import type { OrchService } from "./service.ts";
import { withoutEnd } from "../../kernel/text/edges.ts";

/** A pod that may be behind endpoints. */
export interface OrchPod {
  /** `namespace/name`. */
  readonly id: string;
  /** The workload for reports: once reported, with the services that select the pod. */
  readonly workload: Workload;
  /** Labels of the pod and of its place. */
  readonly labels: Labels;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly nodeName?: string;
  /** Containers with ports for services. */
  readonly containers: readonly ContainerData[];
}

/** The former names of the labels for region and zone. */
const OLD_REGION_LABEL = "failure-domain.beta.kubernetes.io/region";
const OLD_ZONE_LABEL = "failure-domain.beta.kubernetes.io/zone";

const WORKLOAD_NAME_LABEL = "service.mesh.io/workload-name";

/** `region/zone/subzone` of a node, or empty. */
export function nodeLocality(node: Fact<"Node"> | undefined): string {
  if (node === undefined) return "";
  const { labels } = node.meta;
  const parts = [
    labels[REGION_LABEL] || labels[OLD_REGION_LABEL] || "",
    labels[ZONE_LABEL] || labels[OLD_ZONE_LABEL] || "",
    labels[SUBZONE_LABEL] || "",
  ];
  return withoutEnd(parts.join("/"), "/");
}

/**
 * A pod, and its node if the node is known.
 *
 * @param network Network of workloads without a network label, from the system namespace's label; empty: by address.
 * @returns Undefined: the pod has ended.
 */
export function convertPod(
  { meta, spec }: Fact<"Pod">,
  node: Fact<"Node"> | undefined,
  network: string,
  { clusterId, networkOf, drainingLabel }: OrchRegistryOptions,
): OrchPod | undefined {
  if (hasEnded(spec)) return undefined;
  const { running, hostname, subdomain } = spec;
  const addresses = (spec.addresses ?? []).filter(isIp).map(canonicalIp);
  const containers = servingContainers(spec);
  const nodeName = running?.nodeName;
  const drains = drainingLabel !== "" && !!spec.labels[drainingLabel];
  // Optional fields come last: behind them the engine would keep all fields in a second object.
  const workload: Workload = {
    id: `pod/${meta.namespace}/${meta.name}`,
    name: workloadName(meta.name, spec),
    namespace: meta.namespace,
    kind: "pod",
    addresses,
    labels: spec.labels,
    serviceAccount: spec.serviceAccount,
    locality: localityOf(spec.labels) || nodeLocality(node),
    network: spec.labels[NETWORK_LABEL] || network || networkOf(addresses[0] ?? ""),
    clusterId,
    weight: 1,
    health: running?.ready !== true || running.deleting ? "unhealthy" : drains ? "draining" : "healthy",
    ports: namedPorts(containers),
    tlsMode: tlsModeOf(spec.labels, ""),
    ...isCapturedPod(spec.annotations) ? { isCaptured: true as const } : {},
    ...spec.hostNetwork ? { sharesNode: true as const } : {},
  };
  return {
    id: `${meta.namespace}/${meta.name}`,
    workload,
    labels: sharedLabels(withPlace(spec.labels, { ...workload, ...(nodeName === undefined ? {} : { nodeName }) })),
    // A pod has a DNS name only below the headless service that the pod names.
    ...(subdomain === undefined ? {} : { hostname: hostname ?? meta.name, subdomain }),
    ...(nodeName === undefined ? {} : { nodeName }),
    containers,
  };
}

/** The containers of a pod with ports for services. */
export function servingContainers({ containers }: Pick<Fact<"Pod">["spec"], "containers">): readonly ContainerData[] {
  const serves = ({ init, sidecar }: ContainerData) => !init || sidecar === true;
  // Most pods keep their list, instead of a copy.
  return containers.every(serves) ? containers : containers.filter(serves);
}

/** Whether a pod has ended for good, with success or without. */
export function hasEnded({ phase }: Pick<Fact<"Pod">["spec"], "phase">): boolean {
  return phase === "Failed" || phase === "Succeeded";
}

/** The workload of a pod, with the ports behind the ports of the services that select the pod. */
export function withServed(pod: OrchPod, services: Iterable<OrchService>): Workload {
  const serves = servedPorts(pod, services);
  if (samePlain(serves, pod.workload.serves ?? [])) return pod.workload;
  const { serves: _, ...workload } = pod.workload;
  return serves.length === 0 ? workload : { ...workload, serves };
}

/** A pod with the services of its earlier version, until the services are looked up again. */
export function withServesOf(old: OrchPod | undefined, now: OrchPod | undefined): OrchPod | undefined {
  const serves = old?.workload.serves;
  return now === undefined || serves === undefined ? now : { ...now, workload: { ...now.workload, serves } };
}

function servedPorts(pod: OrchPod, services: Iterable<OrchService>): ServedPort[] {
  const served: ServedPort[] = [];
  for (const { key, ports } of services) {
    for (const port of ports) {
      const number = targetOf(port, pod);
      if (number !== undefined) served.push({ service: key, portName: port.name, port: number });
    }
  }
  // A copy has room only for its items. A list that grew has room for seventeen, and each pod keeps a list.
  return served.toSorted((a, b) => a.service === b.service ? 0 : a.service < b.service ? -1 : 1);
}

/** The port of a pod behind a service's port; undefined: no port of the pod has this name. */
export function targetOf(
  { port, targetPort, protocol }: ServicePortData,
  { containers }: Pick<OrchPod, "containers">,
): number | undefined {
  if (typeof targetPort !== "string") return targetPort || port;
  return ports(containers).find((own) => own.name === targetPort && own.protocol === protocol)?.port;
}

/** Ports of ordinary containers come before ports of sidecars among the init containers. */
function ports(containers: readonly ContainerData[]): readonly ContainerPortData[] {
  return containers.flatMap((container) => container.ports);
}

const NO_PORTS: Readonly<Record<string, number>> = Object.freeze({});

/** TCP ports by name; the first of a name counts. */
function namedPorts(containers: readonly ContainerData[]): Readonly<Record<string, number>> {
  const named = ports(containers).filter(({ name, protocol }) => name !== "" && protocol === "TCP");
  if (named.length === 0) return NO_PORTS;
  return Object.fromEntries(named.toReversed().map(({ name, port }) => [name, port]));
}

/** The name of the object that made a pod, derived from the pod alone. */
export function workloadName(name: string, { labels, owner, generated }: Fact<"Pod">["spec"]): string {
  const given = labels[WORKLOAD_NAME_LABEL];
  if (given !== undefined) return given;
  if (generated === undefined || owner === undefined) return name;
  const [kind, made = name] = owner.split("/");
  if (kind === "ReplicaSet") {
    const hashes = [labels["pod-template-hash"], labels["rollouts-pod-template-hash"]];
    const hash = hashes.find((one) => one && made.endsWith(`-${one}`));
    return hash ? made.slice(0, -hash.length - 1) : made;
  }
  if (kind === "ReplicationController") return labels["deploymentconfig"] || made;
  // Jobs of a schedule end their names with the time of their start.
  return kind === "Job" ? made.replace(/-\d{8,10}$/, "") || made : made;
}
