/**
 * The settings of the Gateway API, and the derivations that they give.
 *
 * @module
 */
import type { Derivation } from "../../config/derive/derivation.ts";
import type { AttachOptions, ClassRole } from "../attach/types.ts";
import { backendTlsDerivation } from "../derive/backend_tls.ts";
import { backendTrafficDerivation } from "../derive/backend_traffic.ts";
import { externalBackendDerivation } from "../derive/external_backends.ts";
import {
  EAST_WEST_CLASS,
  EAST_WEST_CONTROLLER,
  hasNetworkGateways,
  type NetworkGatewaySettings,
  REMOTE_CONTROLLER,
  WAYPOINT_CLASS,
  WAYPOINT_CONTROLLER,
} from "../built_in_classes.ts";
import { gatewayApiDerivation, type VerdictListener } from "./derivation.ts";

/** The settings of the Gateway API, by the names of their variables. */
export interface GatewayApiSettings extends NetworkGatewaySettings {
  /** False: nothing of the Gateway API is derived. */
  readonly PILOT_ENABLE_GATEWAY_API: boolean;
  /** False: the experimental kinds have no effect. */
  readonly PILOT_ENABLE_ALPHA_GATEWAY_API: boolean;
  readonly PILOT_ENABLE_PERSISTENT_SESSION_FILTER: boolean;
  readonly PILOT_GATEWAY_API_CONTROLLER_NAME: string;
  readonly PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME: string;
  readonly PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API: boolean;
  readonly ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT: boolean;
  readonly ENABLE_GATEWAY_API_INFERENCE_EXTENSION: boolean;
}

/** How objects of the Gateway API are read. */
export interface GatewayApiSource {
  /** DNS suffix of services. */
  readonly domain: string;
  /** Whether services may come from ServiceEntries: the objects are from a folder, not from an orchestrator. */
  readonly isFolder: boolean;
  /** Gets the verdicts about each Gateway and its routes. Absent: nobody asks. */
  readonly learned?: VerdictListener | undefined;
}

/** The derivations of the Gateway API; none if the Gateway API is switched off. */
export function gatewayApiDerivations(source: GatewayApiSource, settings: GatewayApiSettings): Derivation[] {
  if (!settings.PILOT_ENABLE_GATEWAY_API) return [];
  const options = attachOptions(source, settings);
  return [
    gatewayApiDerivation(options, source.learned),
    backendTlsDerivation(options),
    ...(options.experimental ? [backendTrafficDerivation(options), externalBackendDerivation(options)] : []),
  ];
}

/**
 * Settings of attachment. A folder may use Istio's names of class and controller. In a cluster these names belong to Istio:
 * two control planes must not serve the same Gateway.
 */
export function attachOptions({ domain, isFolder }: GatewayApiSource, settings: GatewayApiSettings): AttachOptions {
  const controllerName = settings.PILOT_GATEWAY_API_CONTROLLER_NAME;
  const gateways = [controllerName, ...(isFolder ? ["istio.io/gateway-controller"] : [])];
  const remote = settings.PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API
    ? [REMOTE_CONTROLLER, ...(isFolder ? ["istio.io/unmanaged-gateway"] : [])]
    : [];
  const waypoints = settings.PILOT_ENABLE_AMBIENT_WAYPOINTS
    ? [WAYPOINT_CONTROLLER, ...(isFolder ? ["istio.io/mesh-controller"] : [])]
    : [];
  const eastWest = hasNetworkGateways(settings)
    ? [EAST_WEST_CONTROLLER, ...(isFolder ? ["istio.io/eastwest-controller"] : [])]
    : [];
  const of = (names: readonly string[], role: ClassRole) => Object.fromEntries(names.map((name) => [name, role]));
  return {
    controllers: {
      ...of(remote, "remote"),
      ...of(waypoints, "waypoint"),
      ...of(eastWest, "east-west"),
      ...of(gateways, "gateway"),
    },
    builtInClasses: {
      ...(isFolder ? { istio: controllerName } : {}),
      ...(remote[0] === undefined ? {} : { "mesh-remote": remote[0] }),
      ...classesOf(waypoints, WAYPOINT_CLASS, isFolder && "istio-waypoint"),
      ...classesOf(eastWest, EAST_WEST_CLASS, isFolder && "istio-east-west"),
      [settings.PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME]: controllerName,
    },
    controllerName,
    domain,
    allowsManualDeployment: settings.ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT,
    servicesFromEntries: isFolder,
    keepsSessions: settings.PILOT_ENABLE_PERSISTENT_SESSION_FILTER,
    experimental: settings.PILOT_ENABLE_ALPHA_GATEWAY_API,
    inferencePools: settings.ENABLE_GATEWAY_API_INFERENCE_EXTENSION,
  };
}

/** The names of a class with its first controller. No controller: the class does not exist. */
function classesOf(
  [controller]: readonly string[],
  name: string,
  otherName: string | false,
): Readonly<Record<string, string>> {
  if (controller === undefined) return {};
  return { [name]: controller, ...(otherName && { [otherName]: controller }) };
}
