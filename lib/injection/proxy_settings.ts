/**
 * The settings of an injected proxy: the mesh's settings, then objects of kind ProxyConfig, then the pod's annotation.
 * Later sources have precedence.
 *
 * @module
 */
import { defaultProxySettings, mergeProxySettings } from "../config/mesh/merge.ts";
import { parseProxySettings } from "../config/mesh/parse.ts";
import { proxySettings } from "../config/mesh/proxy_schema.ts";
import type { MeshConfig, ProxySettings } from "../config/mesh/types.ts";
import { encodeField } from "../config/schema/encode.ts";
import type { Texts } from "./spelling.ts";
import type { NamedProxyConfig } from "./types.ts";

/** Annotation with settings as YAML. */
const ANNOTATION = "proxy.mesh.io/config";

/** Longest annotation, in characters: reading YAML is expensive. */
const MAX_TEXT = 65_536;

/** The settings, or the mistakes in the annotation. */
export type PodProxySettings = { readonly proxy: ProxySettings } | { readonly problems: readonly string[] };

/** Inputs to the choice of settings. Labels and annotations have this project's keys. */
export interface ProxySettingsInput {
  readonly mesh: MeshConfig;
  readonly proxyConfigs: readonly NamedProxyConfig[];
  readonly namespace: string;
  readonly labels: Texts;
  readonly annotations: Texts;
}

/** The settings of a pod's proxy. */
export function podProxySettings(input: ProxySettingsInput): PodProxySettings {
  const { mesh, annotations } = input;
  const proxy = effectiveConfigs(input).reduce(withConfig, mesh.defaultConfig);
  const text = annotations[ANNOTATION];
  if (text === undefined || text.trim() === "") return { proxy };
  if (text.length > MAX_TEXT) {
    return { problems: [`annotation ${ANNOTATION}: got ${text.length} characters, expected at most ${MAX_TEXT}`] };
  }
  const parsed = parseProxySettings(text, proxy, `annotation ${ANNOTATION}`);
  if (parsed.value !== undefined) return { proxy: parsed.value };
  const errors = parsed.findings.filter(({ severity }) => severity === "error");
  return { problems: errors.map(({ message }) => `annotation ${ANNOTATION}: ${message}`) };
}

/** The oldest object of each level: mesh, namespace, workload. Later levels have precedence. */
function effectiveConfigs({ mesh, proxyConfigs, namespace, labels }: ProxySettingsInput): NamedProxyConfig[] {
  const oldestFirst = proxyConfigs.toSorted((a, b) =>
    a.createdAt - b.createdAt || (a.name < b.name ? -1 : Number(a.name > b.name))
  );
  const first = (accepts: (one: NamedProxyConfig) => boolean) => oldestFirst.find(accepts);
  const labelsOf = ({ spec: { selector } }: NamedProxyConfig) => Object.entries(selector?.matchLabels ?? {});
  // A selector without labels selects nothing. The object then applies to all workloads, like an object without a
  // selector.
  const whole = (one: NamedProxyConfig) => labelsOf(one).length === 0;
  const selects = (one: NamedProxyConfig) =>
    !whole(one) && labelsOf(one).every(([key, value]) => labels[key] === value);
  return [
    first((one) => one.namespace === mesh.rootNamespace && whole(one)),
    namespace === mesh.rootNamespace ? undefined : first((one) => one.namespace === namespace && whole(one)),
    first((one) => one.namespace === namespace && selects(one)),
  ].filter((one) => one !== undefined);
}

function withConfig(proxy: ProxySettings, { spec }: NamedProxyConfig): ProxySettings {
  const { concurrency, environmentVariables, image } = spec;
  return mergeProxySettings(proxy, {
    ...(concurrency !== undefined && { concurrency }),
    ...(environmentVariables !== undefined && { proxyMetadata: environmentVariables }),
    ...(image !== undefined && { image }),
  });
}

/** The value of the variable `PROXY_CONFIG`: JSON of the fields that differ from the agent's own defaults. */
export function proxyConfigVariable(proxy: ProxySettings): string {
  const defaults = encoded(defaultProxySettings({ systemNamespace: AGENTS_DEFAULT_NAMESPACE }));
  const differs = Object.entries(encoded(proxy)).filter(([key, value]) =>
    JSON.stringify(value) !== JSON.stringify(defaults[key])
  );
  return JSON.stringify(Object.fromEntries(differs));
}

/** An agent's default namespace of the control plane. */
const AGENTS_DEFAULT_NAMESPACE = "mesh-system";

function encoded(proxy: ProxySettings): Record<string, unknown> {
  return encodeField(proxySettings, proxy) as Record<string, unknown>;
}
