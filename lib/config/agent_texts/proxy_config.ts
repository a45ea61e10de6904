/**
 * The settings of a workload's proxy: the mesh's settings, overridden by the variable, overridden by the pod's
 * annotation.
 *
 * @module
 */
import { mergeProxySettings } from "../mesh/merge.ts";
import { parseMeshConfig, parseProxySettings } from "../mesh/parse.ts";
import type { ProxySettings } from "../mesh/types.ts";

/** The texts of settings; empty: none. */
export interface ProxyConfigTexts {
  /** The mesh configuration, and the name of its file. */
  readonly mesh: string;
  readonly meshFile: string;
  /** The variable PROXY_CONFIG. */
  readonly variable: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The settings, or all mistakes; and warnings. */
export interface ProxyConfigResult {
  readonly proxy: ProxySettings | undefined;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** Default namespace of the control plane. */
const SYSTEM_NAMESPACE = "mesh-system";

const DEFAULTS = { systemNamespace: SYSTEM_NAMESPACE };

/** Annotation of a pod, in both spellings. */
const ANNOTATIONS = ["proxy.mesh.io/config", "proxy.istio.io/config"];

/** Reads the settings. */
export function readProxyConfig({ mesh, meshFile, variable, annotations }: ProxyConfigTexts): ProxyConfigResult {
  const parsed = parseMeshConfig(mesh, { systemNamespace: SYSTEM_NAMESPACE, source: meshFile });
  const findings = [...parsed.findings];
  const written = ANNOTATIONS.find((key) => annotations[key] !== undefined) ?? "";
  const texts = [["PROXY_CONFIG", variable], [`annotation ${written}`, annotations[written] ?? ""]] as const;
  let proxy = parsed.value === undefined ? undefined : mergeProxySettings(parsed.value.defaultConfig, {});
  for (const [source, text] of texts) {
    if (text.trim() === "") continue;
    const next = parseProxySettings(text, proxy ?? parseMeshConfig("", DEFAULTS).value!.defaultConfig, source);
    findings.push(...next.findings);
    proxy = next.value === undefined ? undefined : proxy && next.value;
  }
  const textsOf = (isError: boolean) =>
    findings.filter(({ severity }) => (severity === "error") === isError)
      .map(({ place, message }) => `${place.origin?.from === "file" ? place.origin.file : ""}: ${message}`);
  return { proxy, errors: textsOf(true), warnings: textsOf(false) };
}
