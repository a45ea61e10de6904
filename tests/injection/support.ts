/**
 * A pod and the pod's surroundings, from a text.
 * @module
 */
import { parse, stringify } from "yaml";
import { parseMeshConfig } from "../../lib/config/mesh/parse.ts";
import { readInjectionConfig } from "../../lib/injection/config.ts";
import { injectPod } from "../../lib/injection/steps/inject.ts";
import { type InjectedPod, readPod } from "../../lib/injection/pod.ts";
import type { InjectionParameters, InjectionResult, InjectionSettings } from "../../lib/injection/types.ts";
import { readValues } from "../../lib/injection/values.ts";

/** A case: a pod and optional surroundings. */
export interface InjectionCase {
  readonly pod?: unknown;
  readonly config?: unknown;
  readonly values?: unknown;
  readonly mesh?: string;
  readonly proxyConfigs?: InjectionSettings["proxyConfigs"];
  readonly settings?: Partial<InjectionSettings>;
  readonly parameters?: Partial<InjectionParameters>;
  readonly namespaceAnnotations?: Readonly<Record<string, string>>;
  readonly namespaceLabels?: Readonly<Record<string, string>>;
}

/** The settings of a case. */
export function settingsOf(
  { config, values, mesh = "", proxyConfigs = [], settings }: InjectionCase,
): InjectionSettings {
  const readConfig = readInjectionConfig(config);
  const read = readValues(values);
  const parsed = parseMeshConfig(mesh, { systemNamespace: "mesh-system" });
  if ("problems" in readConfig) throw new Error(readConfig.problems.join("\n"));
  if ("problems" in read) throw new Error(read.problems.join("\n"));
  if (parsed.value === undefined) throw new Error(JSON.stringify(parsed.findings));
  return {
    ...{ config: readConfig.config, values: read.values, mesh: parsed.value, proxyConfigs },
    ...{ version: "1.0.0", revision: "", nativeSidecars: false, apiMinor: 33, platform: "", clusterId: "Orch" },
    ...{ certProvider: "meshd", compliancePolicy: "", rootConfigMap: "mesh-ca-root-cert", trustBundle: "" },
    ...settings,
  };
}

/** Injects a pod, by default the pod of the case, in namespace `shop`. */
export function inject(given: InjectionCase, pod: unknown = given.pod): InjectionResult {
  const read = readPod(pod);
  if ("problems" in read) return { kind: "refused", problems: read.problems };
  const { namespaceAnnotations, namespaceLabels } = given;
  return injectPod({
    ...{ pod: read.pod, namespace: read.pod.metadata.namespace ?? "shop" },
    ...(namespaceAnnotations !== undefined && { namespaceAnnotations }),
    ...(namespaceLabels !== undefined && { namespaceLabels }),
    parameters: { variables: {}, ...given.parameters },
  }, settingsOf(given));
}

/** The injected pod. */
export function injected(given: InjectionCase, pod: unknown = given.pod): InjectedPod {
  const result = inject(given, pod);
  if (result.kind !== "injected") throw new Error(JSON.stringify(result));
  return result.pod;
}

/** Reads a case. */
export function readCase(text: string): InjectionCase {
  return parse(text) as InjectionCase;
}

/** A result as YAML; JSON inside of texts stays on its line. */
export function resultText(result: InjectionResult): string {
  return stringify(result.kind === "injected" ? result.pod : result, { lineWidth: 0, aliasDuplicateObjects: false });
}
