/**
 * Whether a server deploys a Gateway, and everything that the deployment depends on.
 *
 * @module
 */
import { hash as digest } from "node:crypto";
import type { FactStore } from "../../config/facts/store.ts";
import type { ConfigStore } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { InjectionSettings } from "../../injection/types.ts";
import { builtInClasses, type ClassNames, controllerRoles } from "../built_in_classes.ts";
import { TEMPLATES } from "./built_in_template.ts";
import { isManagedGateway, isOfNewerController, isOwnGateway, type KnownRevisions } from "./managed.ts";
import { CONTROLLER_VERSION } from "./names.ts";
import { classDefaults, parametersMap } from "./overlays.ts";
import type { DeployedListener, DeployedRole, DeploySource } from "./types.ts";

/** What decisions about Gateways read. */
export interface DeployWorld {
  readonly store: Pick<ConfigStore, "get">;
  readonly facts: Pick<FactStore, "get" | "list">;
  readonly revisions: KnownRevisions;
  readonly classes: ClassNames;
  /** `ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT`. */
  readonly allowsManual: boolean;
  /** Namespace of the server, with the ConfigMaps of classes. */
  readonly systemNamespace: string;
  readonly settings: InjectionSettings;
  /** Listeners of accepted ListenerSets of a Gateway. Default: none. */
  readonly attached?: (gateway: ConfigObject<"ApiGateway">) => readonly DeployedListener[];
}

/** Why a server does not deploy a Gateway, for tests and logs. */
export type NotDeployed = "not in an API" | "another class" | "manual" | "another revision" | "a newer controller";

/** A class of Gateways whose proxies this server deploys. */
interface DeployedClass {
  readonly controller: string;
  readonly role: DeployedRole;
}

/** The class of a Gateway if this server deploys proxies of the class; undefined: it does not. */
function deployedClass(
  { spec: { gatewayClassName: name } }: ConfigObject<"ApiGateway">,
  { store, classes }: Pick<DeployWorld, "store" | "classes">,
): DeployedClass | undefined {
  const written = store.get("GatewayClass", "", name)?.spec.controllerName;
  const controller = written ?? builtInClasses(classes).find((one) => one.name === name)?.controller;
  const roles = controllerRoles(classes);
  if (controller === undefined || !Object.hasOwn(roles, controller)) return undefined;
  const role = roles[controller];
  return role !== undefined && role !== "remote" ? { controller, role } : undefined;
}

/** The source of a Gateway's objects, without the selecting label, or why this server does not deploy the Gateway. */
export function deploySource(
  gateway: ConfigObject<"ApiGateway">,
  world: DeployWorld,
): Omit<DeploySource, "selectorLabel"> | NotDeployed {
  const { meta: { namespace, labels, annotations }, spec, origin } = gateway;
  const { facts, systemNamespace, settings, attached } = world;
  if (origin.from !== "api" || origin.uid === "") return "not in an API";
  const served = deployedClass(gateway, world);
  if (served === undefined) return "another class";
  if (!isManagedGateway(spec, world.allowsManual)) return "manual";
  const around = facts.get("Namespace", "", namespace)?.meta;
  if (!isOwnGateway({ labels, namespaceLabels: around?.labels ?? {} }, world.revisions)) return "another revision";
  if (isOfNewerController(annotations[CONTROLLER_VERSION])) return "a newer controller";
  const map = parametersMap(spec);
  return {
    ...{ gateway, uid: origin.uid, ...served, settings },
    listeners: [...spec.listeners, ...attached?.(gateway) ?? []].map(({ name, port, protocol }) => ({
      ...{ name, port, protocol },
    })),
    classDefaults: classDefaults(facts.list("ConfigMap", systemNamespace), spec.gatewayClassName),
    parameters: map === undefined ? undefined : facts.get("ConfigMap", namespace, map),
    namespaceAnnotations: around?.annotations ?? {},
  };
}

/** Annotations that programs write: their change is not a change by the author. */
const OF_PROGRAMS: ReadonlySet<string> = new Set([
  ...[CONTROLLER_VERSION, "kubectl.kubernetes.io/last-applied-configuration"],
]);

/**
 * Hash of the inputs of a Gateway's pods that belong only to the Gateway. If the rendered pods change and the hash stays,
 * then an input has changed that many Gateways share. Only a template of a user reads listeners for pods.
 */
export function ownInputs(
  { gateway, role, listeners, parameters, settings: { config } }: Omit<DeploySource, "selectorLabel">,
): string {
  const { meta: { labels, annotations }, spec } = gateway;
  const own = Object.fromEntries(Object.entries(annotations).filter(([key]) => !OF_PROGRAMS.has(key)));
  const read = Object.hasOwn(config.templates, TEMPLATES[role])
    ? [spec, listeners]
    : [spec.gatewayClassName, spec.infrastructure];
  const text = JSON.stringify([read, sorted(labels), sorted(own), parameters?.hash]);
  return digest("sha256", text, "base64url").slice(0, 22);
}

function sorted(texts: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(texts).sort(([a], [b]) => a < b ? -1 : 1);
}
