/**
 * The classes of Gateways that exist without a GatewayClass, and the controllers of these classes.
 *
 * @module
 */
import type { ClassRole } from "./attach/types.ts";

/** The settings that name classes and controllers. */
export interface ClassNames {
  /** `PILOT_GATEWAY_API_CONTROLLER_NAME`. */
  readonly controllerName: string;
  /** `PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME`. */
  readonly defaultClass: string;
  /** `PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API`; true: a class for gateways of other clusters exists. */
  readonly remote: boolean;
  /** `PILOT_ENABLE_AMBIENT_WAYPOINTS`; true: a class for waypoints exists. */
  readonly waypoints: boolean;
  /** {@linkcode hasNetworkGateways}; true: a class for gateways between networks exists. */
  readonly eastWest: boolean;
}

/** The settings without which there is no class for gateways between networks. */
export interface NetworkGatewaySettings {
  readonly AMBIENT_ENABLE_MULTI_NETWORK: boolean;
  readonly PILOT_ENABLE_AMBIENT: boolean;
  readonly PILOT_ENABLE_AMBIENT_WAYPOINTS: boolean;
}

/** Whether gateways between networks are served. Their proxies connect as waypoints. */
export function hasNetworkGateways(settings: NetworkGatewaySettings): boolean {
  return settings.PILOT_ENABLE_AMBIENT && settings.AMBIENT_ENABLE_MULTI_NETWORK &&
    settings.PILOT_ENABLE_AMBIENT_WAYPOINTS;
}

/** A class that needs no GatewayClass. */
export interface BuiltInClass {
  readonly name: string;
  readonly controller: string;
  readonly role: ClassRole;
  /** For people. At most 64 characters, as in an API server. */
  readonly description: string;
}

/** Controller of the class whose Gateways are gateways of other clusters. */
export const REMOTE_CONTROLLER = "mesh.io/unmanaged-gateway";

/** The class of waypoints. */
export const WAYPOINT_CLASS = "mesh-waypoint";
/** Controller of the class of waypoints. */
export const WAYPOINT_CONTROLLER = "mesh.io/mesh-controller";

/** The class of gateways between networks. */
export const EAST_WEST_CLASS = "mesh-east-west";
/** Controller of the class of gateways between networks. */
export const EAST_WEST_CONTROLLER = "mesh.io/eastwest-controller";

/** The classes that need no GatewayClass, the default class first. */
export function builtInClasses(
  { controllerName, defaultClass, remote, waypoints, eastWest }: ClassNames,
): readonly BuiltInClass[] {
  const classes: BuiltInClass[] = [{
    ...{ name: defaultClass, controller: controllerName, role: "gateway" },
    description: "The default class of the mesh",
  }];
  if (remote) {
    classes.push({
      ...{ name: "mesh-remote", controller: REMOTE_CONTROLLER, role: "remote" },
      description: "Gateways of other clusters; nothing is deployed or configured",
    });
  }
  if (waypoints) {
    classes.push({
      ...{ name: WAYPOINT_CLASS, controller: WAYPOINT_CONTROLLER, role: "waypoint" },
      description: "Waypoints, the proxies in front of services in ambient mode",
    });
  }
  if (eastWest) {
    classes.push({
      ...{ name: EAST_WEST_CLASS, controller: EAST_WEST_CONTROLLER, role: "east-west" },
      description: "Gateways that connect networks in ambient mode",
    });
  }
  return classes;
}

/** Roles by `controllerName` of GatewayClasses. */
export function controllerRoles(names: ClassNames): Readonly<Record<string, ClassRole>> {
  return Object.fromEntries(builtInClasses(names).map(({ controller, role }) => [controller, role]));
}
