/**
 * A pod, as far as the node's programs need it, read from the orchestrator's object.
 *
 * @module
 */
import { isObject, type NetworkJson } from "../config/network.ts";

/** An init container or a container of the pod. */
export interface Container {
  readonly name: string;
  readonly init: boolean;
  readonly args: readonly string[];
  /** Variables with a literal value. A variable that refers to something else has the empty text. */
  readonly env: Readonly<Record<string, string>>;
  readonly runAsUser: number | undefined;
  readonly runAsGroup: number | undefined;
}

/** How a container ended. */
export interface Termination {
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
}

/** State of an init container. */
export interface InitStatus {
  readonly name: string;
  /** How the container ended. Undefined: the container has not ended. */
  readonly ended: Termination | undefined;
  /** How the container ended the time before. */
  readonly endedBefore: Termination | undefined;
}

export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly nodeName: string;
  /** True after the pod's deletion, until the pod has ended. */
  readonly ending: boolean;
  /** True for a pod whose containers have all ended for good. */
  readonly hasEnded: boolean;
  readonly serviceAccount: string;
  readonly hostNetwork: boolean;
  /** The pod's addresses, without prefix lengths. Empty until the pod has a network. */
  readonly addresses: readonly string[];
  /** Init containers first, then the pod's containers. */
  readonly containers: readonly Container[];
  readonly initStatuses: readonly InitStatus[];
}

/**
 * Reads a pod. A missing field, or a field of another type, gets an empty value, as in the orchestrator's own readers.
 */
export function readPod(value: unknown): Pod {
  const pod = object(value);
  const meta = object(pod["metadata"]);
  const spec = object(pod["spec"]);
  const status = object(pod["status"]);
  return {
    namespace: text(meta["namespace"]),
    name: text(meta["name"]),
    uid: text(meta["uid"]),
    resourceVersion: text(meta["resourceVersion"]),
    labels: texts(meta["labels"]),
    annotations: texts(meta["annotations"]),
    nodeName: text(spec["nodeName"]),
    ending: text(meta["deletionTimestamp"]) !== "",
    hasEnded: ["Succeeded", "Failed"].includes(text(status["phase"])),
    serviceAccount: text(spec["serviceAccountName"]),
    hostNetwork: spec["hostNetwork"] === true,
    addresses: [...new Set([status["podIP"], ...objects(status["podIPs"]).map(({ ip }) => ip)].map(text))].filter(
      Boolean,
    ),
    containers: [
      ...objects(spec["initContainers"]).map((c) => readContainer(c, true)),
      ...objects(spec["containers"]).map((c) => readContainer(c, false)),
    ],
    initStatuses: objects(status["initContainerStatuses"]).map(readStatus),
  };
}

function readContainer(container: NetworkJson, init: boolean): Container {
  const security = object(container["securityContext"]);
  const args = container["args"];
  return {
    name: text(container["name"]),
    init,
    args: Array.isArray(args) ? args.filter((arg) => typeof arg === "string") : [],
    env: byName(objects(container["env"])),
    runAsUser: number(security["runAsUser"]),
    runAsGroup: number(security["runAsGroup"]),
  };
}

function readStatus(status: NetworkJson): InitStatus {
  return {
    name: text(status["name"]),
    ended: readTermination(object(status["state"])["terminated"]),
    endedBefore: readTermination(object(status["lastState"])["terminated"]),
  };
}

function readTermination(value: unknown): Termination | undefined {
  if (!isObject(value)) return undefined;
  return { exitCode: number(value["exitCode"]) ?? 0, reason: text(value["reason"]), message: text(value["message"]) };
}

function object(value: unknown): NetworkJson {
  return isObject(value) ? value : {};
}

function objects(value: unknown): NetworkJson[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

function byName(rows: readonly NetworkJson[]): Record<string, string> {
  const result: Record<string, string> = Object.create(null);
  for (const row of rows) result[text(row["name"])] = text(row["value"]);
  return result;
}

/** Texts by key, without a prototype: keys are a user's. */
function texts(value: unknown): Record<string, string> {
  const result: Record<string, string> = Object.create(null);
  for (const [key, item] of Object.entries(object(value))) if (typeof item === "string") result[key] = item;
  return result;
}
