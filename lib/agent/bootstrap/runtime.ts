/**
 * Values of Envoy's runtime.
 *
 * @module
 */
import type { EnvoyJson } from "./envoy_json.ts";

/** The values of every proxy; the first one lifts a limit that belongs to edges. */
const DEFAULTS: EnvoyJson = {
  "overload.global_downstream_max_connections": "2147483647",
  "re2.max_program_size.error_level": "32768",
};

/** Values with those of the settings over them; an empty one takes a default away. */
export function runtimeValues(values: Readonly<Record<string, string>> = {}): EnvoyJson {
  const merged: Record<string, unknown> = { ...DEFAULTS };
  for (const [key, value] of Object.entries(values)) {
    if (value === "") delete merged[key];
    // Envoy takes booleans of features as booleans alone.
    else merged[key] = value === "true" ? true : value === "false" ? false : value;
  }
  return merged;
}
