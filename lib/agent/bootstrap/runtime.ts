/**
 * Values of Envoy's runtime, and the limit of connections, formerly a runtime value.
 *
 * @module
 */
import { type EnvoyJson, typed } from "./envoy_json.ts";

/** The key of the limit of client connections in the settings. Envoy 1.40 has a resource monitor instead. */
const CONNECTIONS = "overload.global_downstream_max_connections";
/** No limit. Limits are for proxies at the edge of the mesh. */
const UNLIMITED = "2147483647";

/** The values of every proxy. */
const DEFAULTS: EnvoyJson = { "re2.max_program_size.error_level": "32768" };

/** The defaults, overridden by the values of the settings. An empty value removes a default. */
export function runtimeValues(values: Readonly<Record<string, string>> = {}): EnvoyJson {
  const merged: Record<string, unknown> = { ...DEFAULTS };
  for (const [key, value] of Object.entries(values)) {
    if (value === "" || key === CONNECTIONS) delete merged[key];
    // Envoy takes booleans of features only as booleans.
    else merged[key] = value === "true" ? true : value === "false" ? false : value;
  }
  return merged;
}

/** The limit of simultaneous client connections. Undefined: the settings ask for no limit. */
export function overloadManager(values: Readonly<Record<string, string>> = {}): EnvoyJson | undefined {
  const most = values[CONNECTIONS] ?? UNLIMITED;
  if (most === "") return undefined;
  const limit = { max_active_downstream_connections: /^\d{1,18}$/.test(most) ? most : UNLIMITED };
  return {
    resource_monitors: [{
      name: "envoy.resource_monitors.global_downstream_max_connections",
      typed_config: typed(
        "envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
        limit,
      ),
    }],
  };
}
