/**
 * Values of annotations: each check returns the expectation, or undefined where the value is right.
 *
 * @module
 */
import { parseProxySettings } from "../../config/mesh/parse.ts";
import type { ProxySettings } from "../../config/mesh/types.ts";
import { subnetProblem } from "../../config/validation/network.ts";

/** Checks a value. Returns the expectation for a wrong value; undefined: the value is right. */
export type CheckAnnotation = (value: string, defaults: ProxySettings) => string | undefined;

const BOOLEANS = new Set(["1", "t", "T", "true", "TRUE", "True", "0", "f", "F", "false", "FALSE", "False"]);

/** `true` or `false`, or another spelling accepted by Go programs. */
export const isBoolean: CheckAnnotation = (value) => BOOLEANS.has(value) ? undefined : "true or false";

/** A number that fits into 32 bits without sign. */
export const isCount: CheckAnnotation = (value) =>
  /^\d{1,10}$/.test(value) && Number(value) < 2 ** 32 ? undefined : "a number from 0 to 4294967295";

/** A port, or 0. */
export const isPort: CheckAnnotation = (value) =>
  /^\d{1,5}$/.test(value) && Number(value) <= 65_535 ? undefined : "a port from 0 to 65535";

/** An amount of processors or memory: `500m`, `1.5`, `128Mi`. */
export const isQuantity: CheckAnnotation = (value) =>
  /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/.test(value)
    ? undefined
    : "a quantity such as 500m or 128Mi";

/** How traffic is redirected. */
export const isInterception: CheckAnnotation = (value) =>
  ["REDIRECT", "TPROXY", "NONE"].includes(value) ? undefined : "REDIRECT, TPROXY or NONE";

/** A list of ports, separated by commas. */
export const isPortList: CheckAnnotation = (value) => {
  const isRight = words(value).every((word) => isPort(word, NO_DEFAULTS) === undefined);
  return isRight ? undefined : "ports from 0 to 65535, separated by commas";
};

/** The same, or `*` for all. */
export const isPortListOrAll: CheckAnnotation = (value) =>
  value.trim() === "*" || isPortList(value, NO_DEFAULTS) === undefined
    ? undefined
    : "* or ports from 0 to 65535, separated by commas";

/** A list of IP ranges, separated by commas. */
export const isRangeList: CheckAnnotation = (value) =>
  words(value).every((word) => subnetProblem(word) === undefined) ? undefined : "IP ranges, separated by commas";

/** The same, or `*` for all. */
export const isRangeListOrAll: CheckAnnotation = (value) =>
  value.trim() === "*" || isRangeList(value, NO_DEFAULTS) === undefined
    ? undefined
    : "* or IP ranges such as 10.0.0.0/8, separated by commas";

/** Settings of a proxy, as YAML. */
export const isProxySettings: CheckAnnotation = (value, defaults) => {
  const { findings } = parseProxySettings(value, defaults);
  const wrong = findings.find(({ severity }) => severity === "error");
  return wrong === undefined ? undefined : `settings of a proxy (${wrong.message})`;
};

function words(value: string): string[] {
  return value.trim() === "" ? [] : value.split(",").map((word) => word.trim());
}

/** Only checks of proxy settings use the defaults. */
const NO_DEFAULTS = {} as ProxySettings;
