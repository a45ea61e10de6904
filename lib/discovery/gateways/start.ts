/**
 * The work of a server for managed Gateways of its orchestrator.
 *
 * Permissions: the permissions of the client; see `./deployments.ts`.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { ConfigStore } from "../../config/store.ts";
import { type ClassNames, hasNetworkGateways } from "../../gateway_api/built_in_classes.ts";
import type { GatewayApiVerdicts } from "../../gateway_api/groups/verdicts.ts";
import type { InjectionSettings } from "../../injection/types.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import { keepGatewayClasses } from "./classes.ts";
import { gatewayDeployments } from "./deployments.ts";
import type { DeployedGateways } from "./states.ts";

/** The settings in use. */
export type GatewayVariables = Pick<
  DiscoverySettings,
  | "AMBIENT_ENABLE_MULTI_NETWORK"
  | "ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT"
  | "MESH_ENABLE_CONTROLLER_QUEUE_METRICS"
  | "MESH_GATEWAY_ROLL_PAUSE"
  | "PILOT_ENABLE_AMBIENT"
  | "PILOT_ENABLE_AMBIENT_WAYPOINTS"
  | "PILOT_ENABLE_GATEWAY_API"
  | "PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER"
  | "PILOT_ENABLE_GATEWAY_API_GATEWAYCLASS_CONTROLLER"
  | "PILOT_GATEWAY_API_CONTROLLER_NAME"
  | "PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME"
  | "PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API"
  | "REVISION"
>;

/** The objects of an orchestrator that a server reads. */
interface ReadScope {
  /** Limits reading to one namespace; empty: all namespaces. */
  readonly namespace: string;
  /** Whether kinds of configuration are read. */
  readonly kinds: boolean;
}

/** Inputs of the work for Gateways. */
export interface GatewayParts {
  /** Undefined: there is no orchestrator. */
  readonly client: ApiClient | undefined;
  readonly orch?: ReadScope | undefined;
  readonly configuration: {
    readonly store: ConfigStore;
    readonly facts: FactStore;
    readonly gatewayApi: GatewayApiVerdicts;
  };
  /** The settings of pods; undefined: nothing is deployed. */
  readonly pods:
    | {
      readonly current: () => InjectionSettings | { readonly problems: readonly string[] };
      readonly knowsApi: () => boolean;
      readonly onChange: (listener: () => void) => () => void;
    }
    | undefined;
  readonly systemNamespace: string;
  /** Takes the states of Gateways for pages. */
  readonly states: DeployedGateways;
}

/** Whether a server deploys Gateways. */
export function deploysGateways(orch: ReadScope | undefined, settings: GatewayVariables): boolean {
  return orch?.kinds === true && settings.PILOT_ENABLE_GATEWAY_API &&
    settings.PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER;
}

/** The names of classes and controllers. */
function classNames(settings: GatewayVariables): ClassNames {
  return {
    controllerName: settings.PILOT_GATEWAY_API_CONTROLLER_NAME,
    defaultClass: settings.PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME,
    remote: settings.PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API,
    waypoints: settings.PILOT_ENABLE_AMBIENT_WAYPOINTS,
    eastWest: hasNetworkGateways(settings),
  };
}

/** Begins to keep the built-in classes. @returns the duties of a server for managed Gateways */
export function startGateways(
  { client, orch, configuration, pods, systemNamespace, states }: GatewayParts,
  settings: GatewayVariables,
  kernel: Pick<Kernel, "log" | "metrics" | "stopper">,
): readonly Duty[] {
  const log = kernel.log.scope("orch");
  const keepsClasses = orch?.kinds === true && settings.PILOT_ENABLE_GATEWAY_API &&
    settings.PILOT_ENABLE_GATEWAY_API_GATEWAYCLASS_CONTROLLER;
  if (client !== undefined && keepsClasses) {
    keepGatewayClasses({ client, store: configuration.store, classes: classNames(settings), log }, kernel);
  }
  if (client === undefined || pods === undefined || !deploysGateways(orch, settings)) return [];
  const { store, facts, gatewayApi: verdicts } = configuration;
  return [gatewayDeployments({
    ...{ client, store, facts, verdicts, systemNamespace, states },
    // The version of the API decides some fields of the rendered objects.
    settings: () => pods.knowsApi() ? pods.current() : { problems: ["the version of the API is not known yet"] },
    onSettings: pods.onChange,
    classes: classNames(settings),
    allowsManual: settings.ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT,
    revision: settings.REVISION,
    rollPause: settings.MESH_GATEWAY_ROLL_PAUSE,
    namespace: orch?.namespace ?? "",
    log,
    metrics: settings.MESH_ENABLE_CONTROLLER_QUEUE_METRICS ? kernel.metrics : undefined,
  })];
}
