/**
 * A waypoint in the roles of its services: policies name a service, and hold only in the chains of that service.
 *
 *     proxy ──> waypoint itself     policies of its Gateway and its class
 *           └─> for a service       policies of the Gateway, the class and the service
 *
 * A role is an object of properties, so all queries about the workload answer for the role.
 *
 * @module
 */
import { GATEWAY_NAME_LABEL } from "../../config/spelling/spelling.ts";
import type { PlacedTarget } from "../../mesh/selection/index.ts";
import { type ServedWaypoint, serviceTargets } from "../../mesh/waypoints/index.ts";
import { isEastWestPart } from "../../registry/labels.ts";
import type { Service } from "../../registry/types.ts";
import type { Mesh } from "../../mesh/mesh.ts";
import { profileOf } from "./proxy_profile.ts";
import type { ProxyProperties } from "./proxy_properties.ts";
import type { Reader } from "./reader.ts";

/** The Gateway `namespace/name` of a waypoint's proxy, by its label. */
export function waypointName({ namespace, labels }: Pick<ProxyProperties, "namespace" | "labels">): string {
  return `${namespace}/${labels[GATEWAY_NAME_LABEL] ?? ""}`;
}

/** Whether a waypoint's proxy is a gateway between networks, which forwards HBONE unopened. */
export function isNetworkGateway(read: Reader): boolean {
  return read.settings.multiNetwork && read.derived("isNetworkGateway", ({ labels }) => isEastWestPart(labels));
}

/** The roles of a proxy. */
interface Roles {
  /** The waypoint itself, while its waypoint stays the same object. */
  own: { readonly of: ServedWaypoint; readonly properties: ProxyProperties } | undefined;
  /** By the targets of the role. */
  readonly services: WeakMap<readonly PlacedTarget[], ProxyProperties>;
}

/** By the properties of the proxy, and by the properties of the waypoint itself. */
const known = new WeakMap<ProxyProperties, Roles>();

/** Targets by the waypoint's own targets and the service: replicas share the objects, and so the found policies. */
const targetsOfServices = new WeakMap<readonly PlacedTarget[], WeakMap<Service, readonly PlacedTarget[]>>();

/** The objects whose policies hold in a waypoint, for one service or another. */
export function waypointTargets({ targets, services }: ServedWaypoint): readonly PlacedTarget[] {
  return [...targets, ...services.flatMap(serviceTargets)];
}

/** The properties of a waypoint itself. */
export function ownRole(properties: ProxyProperties, waypoint: ServedWaypoint): ProxyProperties {
  const roles = known.getOrInsertComputed(properties, () => ({ own: undefined, services: new WeakMap() }));
  if (roles.own?.of === waypoint) return roles.own.properties;
  const { targets } = waypoint;
  const { namespace, labels } = properties;
  const all = waypointTargets(waypoint);
  const own: ProxyProperties = {
    ...properties,
    ofWaypoint: targets,
    allOfWaypoint: { namespace, labels, ofWaypoint: all },
    policyNamespaces: namespacesOf(all),
  };
  roles.own = { of: waypoint, properties: own };
  known.set(own, roles);
  return own;
}

/** All roles of a proxy. A proxy that is not a waypoint has a single role. */
export function rolesOf(properties: ProxyProperties, mesh: Pick<Mesh, "waypoint">): readonly ProxyProperties[] {
  if (!profileOf(properties.type).waypoint) return [properties];
  const waypoint = mesh.waypoint(waypointName(properties));
  const own = ownRole(properties, waypoint);
  return [own, ...waypoint.services.map((service) => serviceRole(own, waypoint, service))];
}

/** The properties of a waypoint for a service behind it. The same object until the service or the Gateway changes. */
export function serviceRole(own: ProxyProperties, waypoint: ServedWaypoint, service: Service): ProxyProperties {
  const targets = targetsOfServices.getOrInsertComputed(waypoint.targets, () => new WeakMap())
    .getOrInsertComputed(service, () => [...waypoint.targets, ...serviceTargets(service)]);
  return known.get(own)!.services.getOrInsertComputed(targets, () => {
    const { allOfWaypoint: _, ...properties } = own;
    return { ...properties, ofWaypoint: targets, policyNamespaces: namespacesOf(targets) };
  });
}

function namespacesOf(targets: readonly PlacedTarget[]): readonly string[] {
  return [...new Set(targets.map(({ namespace }) => namespace))];
}
