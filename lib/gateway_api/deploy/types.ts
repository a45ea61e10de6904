/**
 * The inputs and results of rendering: a Gateway, and the objects that run its proxies.
 *
 * @module
 */
import type { Fact } from "../../config/facts/types.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { JsonTree } from "../../injection/merge.ts";
import type { Texts } from "../../injection/spelling.ts";
import type { InjectionSettings } from "../../injection/types.ts";
import type { ClassRole } from "../attach/types.ts";

/** Kinds of deployed objects, by the key of their overlay in a ConfigMap. */
export const DEPLOYED_KINDS = {
  serviceAccount: { apiVersion: "v1", kind: "ServiceAccount" },
  deployment: { apiVersion: "apps/v1", kind: "Deployment" },
  service: { apiVersion: "v1", kind: "Service" },
  horizontalPodAutoscaler: { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler" },
  podDisruptionBudget: { apiVersion: "policy/v1", kind: "PodDisruptionBudget" },
} as const;

/** Key of an overlay. */
export type OverlayKey = keyof typeof DEPLOYED_KINDS;

/** Kind of a deployed object. */
export type DeployedKind = (typeof DEPLOYED_KINDS)[OverlayKey]["kind"];

/** An object to apply. */
export interface DeployedObject {
  readonly apiVersion: string;
  readonly kind: DeployedKind;
  readonly metadata: JsonTree & { readonly name: string; readonly namespace: string };
  readonly [field: string]: unknown;
}

/** How a class is served whose proxies are deployed. */
export type DeployedRole = Extract<ClassRole, "gateway" | "waypoint" | "east-west">;

/** A listener that needs a port of the Service. */
export interface DeployedListener {
  readonly name: string;
  readonly port: number;
  /** As written, such as `HTTPS`. */
  readonly protocol: string;
}

/** What the deployment of a Gateway depends on. */
export interface DeploySource {
  readonly gateway: ConfigObject<"ApiGateway">;
  /** Identity of the Gateway in the API. */
  readonly uid: string;
  /** `controllerName` of the Gateway's class. */
  readonly controller: string;
  readonly role: DeployedRole;
  /** Listeners of the Gateway and of its ListenerSets. */
  readonly listeners: readonly DeployedListener[];
  /** ConfigMap with overlays of the class; undefined: none. */
  readonly classDefaults: Fact<"ConfigMap"> | undefined;
  /** ConfigMap of `infrastructure.parametersRef`; undefined: none, or the ConfigMap does not exist. */
  readonly parameters: Fact<"ConfigMap"> | undefined;
  readonly namespaceAnnotations: Texts;
  readonly settings: InjectionSettings;
  /** Label with the Gateway's name that selects pods. A Deployment's selector cannot be changed. */
  readonly selectorLabel: string;
}

/** The objects of a Gateway, or why there are none. */
export type Rendering =
  | { readonly objects: readonly DeployedObject[] }
  /** The parameters of the Gateway are wrong. For conditions of reason `InvalidParameters`. */
  | { readonly invalidParameters: string }
  /** Lines for the log. */
  | { readonly problems: readonly string[] };
