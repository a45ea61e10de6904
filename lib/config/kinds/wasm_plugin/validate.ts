/**
 * Rules of WasmPlugin.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { checkPort } from "../../validation/network.ts";
import { checkAttachment } from "../../validation/shared.ts";
import type { Validate } from "../validate.ts";
import type { WasmEnvVar, WasmPluginSpec } from "./schema.ts";

/** Checks a WasmPlugin. */
export const validateWasmPlugin: Validate<WasmPluginSpec> = (spec, _meta, report) => {
  checkAttachment(spec, report);
  if (spec.url !== "" && !isModuleUrl(spec.url)) {
    report.error("spec.url", spec.url, "an oci://, http://, https:// or file:// URL, or an image name");
  }
  if (spec.sha256 !== undefined && !/^[a-f0-9]{64}$/.test(spec.sha256)) {
    report.error("spec.sha256", spec.sha256, "64 lower-case hexadecimal digits");
  }
  checkLength(spec.imagePullSecret, 253, "spec.imagePullSecret", report);
  checkLength(spec.pluginName, 256, "spec.pluginName", report);
  checkWithoutEffect(spec, report);
  checkEnvironment(spec.vmConfig?.env ?? [], report);
  spec.match?.forEach((match, index) =>
    match.ports?.forEach((port, position) =>
      checkPort(port.number, `spec.match[${index}].ports[${position}].number`, report)
    )
  );
};

function checkWithoutEffect(spec: WasmPluginSpec, report: Findings): void {
  const scheme = writtenScheme(spec.url) ?? "oci";
  if (spec.verificationKey !== undefined) {
    report.warning("spec.verificationKey", spec.verificationKey, "nothing: signatures are not checked, sha256 is");
  }
  if (spec.imagePullSecret !== undefined && scheme !== "oci") {
    report.warning("spec.imagePullSecret", spec.imagePullSecret, "nothing: only registries (oci://) are sent it");
  }
  if (scheme !== "file") return;
  if (spec.sha256 !== undefined) report.warning("spec.sha256", spec.sha256, "nothing: a file is not checked");
  if (spec.imagePullPolicy !== "UNSPECIFIED_POLICY") {
    report.warning("spec.imagePullPolicy", spec.imagePullPolicy, "nothing: a file is not fetched");
  }
}

/** Undefined: none, so the module is in a registry. */
function writtenScheme(url: string): string | undefined {
  return /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\//.exec(url)?.[1]?.toLowerCase();
}

function isModuleUrl(url: string): boolean {
  const scheme = writtenScheme(url);
  if (scheme === undefined) return URL.canParse(`http://${url}`);
  return ["oci", "http", "https", "file"].includes(scheme) && URL.canParse(url) && !url.endsWith("://");
}

function checkLength(text: string | undefined, maximum: number, at: string, report: Findings): void {
  if ((text?.length ?? 0) > maximum) report.error(at, text, `at most ${maximum} characters`);
}

function checkEnvironment(variables: readonly WasmEnvVar[], report: Findings): void {
  const names = new Set<string>();
  variables.forEach((variable, index) => {
    const at = `spec.vmConfig.env[${index}]`;
    checkLength(variable.name, 256, `${at}.name`, report);
    if (names.has(variable.name)) report.error(`${at}.name`, variable.name, "a name that no other variable has");
    names.add(variable.name);
    if (variable.valueFrom !== "INLINE" && variable.value !== undefined) {
      report.error(`${at}.value`, variable.value, `nothing: the value comes from ${variable.valueFrom}`);
    }
  });
}
