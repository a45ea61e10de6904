/**
 * A pod, as far as the node's programs look at it, read from the orchestrator's object.
 *
 * @module
 */
import { isObject, type NetworkJson } from "../config/network.ts";

/** A container, among those that start a pod or those that are it. */
export interface Container {
  readonly name: string;
  readonly init: boolean;
  readonly args: readonly string[];
  /** Variables with a value written out; one that refers to something else has the empty text. */
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

/** State of a container that starts a pod. */
export interface InitStatus {
  readonly name: string;
  /** How it ended, when it has. */
  readonly ended: Termination | undefined;
  /** How it ended the time before. */
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
  /** True once it was deleted and is coming to its end. */
  readonly ending: boolean;
  readonly hostNetwork: boolean;
  /** Of its network, without prefix lengths; none before it has one. */
  readonly addresses: readonly string[];
  /** Those that start it, then those that are it. */
  readonly containers: readonly Container[];
  readonly initStatuses: readonly InitStatus[];
}

/** Reads a pod. A field that is missing or of another type gets its empty value, as with the orchestrator's readers. */
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
