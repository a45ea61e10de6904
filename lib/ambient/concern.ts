/**
 * Which resources a change of an object concerns.
 *
 * @module
 */
import type { Fact } from "../config/facts/types.ts";
import type { InvalidatedKeys } from "../incremental/keys.ts";
import { samePlain } from "../registry/content.ts";
import { isEastWestPart, NETWORK_LABEL } from "../registry/labels.ts";
import { nodeLocality } from "../registry/orch/pod.ts";
import { isWaypointPart, USE_WAYPOINT, USE_WAYPOINT_NAMESPACE } from "../mesh/waypoints/marks.ts";
import {
  type AmbientObject,
  type AmbientObjects,
  hostKeys,
  hostsOf,
  podsOfSlice,
  type SelectedWorkload,
  selectorOf,
  serviceOfSlice,
} from "./objects.ts";

/** Names of the parts that are made together, and are made again together. */
export const partOf = {
  /** The service of a host. @param host `namespace/host` */
  host: (host: string): string => `host:${host}`,
};

/** Kind of things: the object of a host that asks for a waypoint, by `namespace/host`. */
export const ASKING_HOST = "host that asks";

/** The concern of a change. */
export interface Concern {
  /** Keys of objects whose workloads are made again, and parts of services. */
  readonly parts: Set<string>;
  /** Things whose dependents are made again. */
  readonly things: InvalidatedKeys;
  /** Everything is made again. */
  isWhole: boolean;
}

/** Where concerns are looked up. */
export interface ConcernSurroundings {
  readonly objects: AmbientObjects;
  readonly domain: string;
  readonly systemNamespace: string;
}

/**
 * Notes the concern of one version of an object, beside its other version: before the change with the old version, after
 * the change with the new version.
 *
 * @param version The version in the objects now.
 * @param other The version before or after; undefined: none.
 */
export function noteConcern(
  version: AmbientObject,
  other: AmbientObject | undefined,
  concern: Concern,
  around: ConcernSurroundings,
): void {
  const { objects, domain, systemNamespace } = around;
  const { parts, things } = concern;
  const { meta: { namespace, name } } = version;
  if (version.kind === "Service" || version.kind === "ServiceEntry") {
    if (!samePlain(asking(version), other && asking(other))) {
      for (const host of hostsOf(version, domain)) things.add(ASKING_HOST, host);
    }
  }
  switch (version.kind) {
    case "Namespace":
      things.add("Namespace", name);
      if (name === systemNamespace && !sameLabel(version, other, NETWORK_LABEL)) concern.isWhole = true;
      return;
    case "Node":
      if (other?.kind !== "Node" || nodeLocality(version) !== nodeLocality(other)) things.add("Node", name);
      return;
    case "ApiGateway":
      return void things.add("ApiGateway", `${namespace}/${name}`);
    case "GatewayClass":
      return void things.add("GatewayClass", name);
    case "Pod":
    case "WorkloadEntry":
      return void parts.add(version.key);
    case "EndpointSlice":
      parts.add(version.key);
      return noteSlicePods(version, parts, objects);
    case "Service":
      for (const host of hostsOf(version, domain)) parts.add(partOf.host(host));
      if (other?.kind === "Service" && samePlain(serving(version), serving(other))) return;
      for (const { key } of selectedBy(version, objects)) parts.add(key);
      for (const slice of objects.slicesOf(version.key)) {
        parts.add(slice.key);
        noteSlicePods(slice, parts, objects);
      }
      return;
    case "ServiceEntry":
      parts.add(version.key);
      for (const host of hostKeys(version)) parts.add(partOf.host(host));
      if (other?.kind === "ServiceEntry" && samePlain(servingOfEntry(version), servingOfEntry(other))) return;
      for (const { key } of selectedBy(version, objects)) parts.add(key);
  }
}

/** What decides about the waypoint of a host: the labels, and which of several entries is the oldest. */
function asking({ meta: { labels, creationTimestamp } }: AmbientObject) {
  const ownLabels = [
    labels[USE_WAYPOINT],
    labels[USE_WAYPOINT_NAMESPACE],
    isWaypointPart(labels),
    isEastWestPart(labels),
  ];
  return [...ownLabels, creationTimestamp];
}

function sameLabel(version: AmbientObject, other: AmbientObject | undefined, label: string): boolean {
  return version.meta.labels[label] === other?.meta.labels[label];
}

/** The parts of a Service that its workloads have in their messages. */
function serving({ spec: { selector, ports, type } }: Fact<"Service">) {
  return [selector, ports, type];
}

/** The parts of an entry that the selected workloads have in their messages. */
function servingOfEntry(
  { spec: { hosts, ports, workloadSelector } }: Extract<AmbientObject, { kind: "ServiceEntry" }>,
) {
  return [hosts, ports, workloadSelector];
}

function selectedBy(
  object: Extract<AmbientObject, { kind: "Service" | "ServiceEntry" }>,
  objects: AmbientObjects,
): readonly SelectedWorkload[] {
  const selector = selectorOf(object);
  return selector === undefined ? [] : objects.selected(selector);
}

/** A slice of a Service without a selector decides about the pods that it names. */
function noteSlicePods(slice: Fact<"EndpointSlice">, parts: Set<string>, objects: AmbientObjects): void {
  const service = objects.at(serviceOfSlice(slice));
  if (service?.kind === "Service" && selectorOf(service) !== undefined) return;
  for (const pod of podsOfSlice(slice)) parts.add(pod);
}
