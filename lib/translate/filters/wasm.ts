/**
 * Filters of WasmPlugins: each asks for its configuration by name (ECDS), so that another module or configuration changes
 * no listener.
 *
 * @module
 */
import { ApiVersion } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { TelemetrySide } from "../../mesh/telemetry/access_logging.ts";
import type { PluginUse } from "../../mesh/wasm_plugins.ts";
import { TYPE_URL_PREFIX } from "../../pb/codec.ts";
import { duration } from "../../pb/wellknown.ts";
import type { Reader } from "../reader/reader.ts";
import { hasExtension } from "./extension.ts";

/** Where a chain of filters is. */
export interface TrafficPlace {
  readonly side: TelemetrySide;
  /** Of the listener, inbound of the workload; 0: any. */
  readonly port: number;
  /** Inside of HBONE: the client's certificate is not that of the connection. */
  readonly hbone?: true;
}

/** A filter whose configuration comes by ECDS. */
interface DiscoveredFilter {
  readonly name: string;
  readonly config_discovery: envoy.config.core.v3.ExtensionConfigSource;
}

/** Filters by the steps at which they run. */
export interface PhasedFilters {
  /** Before the caller's identity is known. */
  readonly authentication: readonly DiscoveredFilter[];
  /** Before the caller's permission is judged. */
  readonly authorization: readonly DiscoveredFilter[];
  /** After that: phase STATS, then those without one. */
  readonly others: readonly DiscoveredFilter[];
}

/** Extensions of Envoy that run modules. */
export const WASM_FILTER = { http: "envoy.filters.http.wasm", network: "envoy.filters.network.wasm" } as const;

/** The filters of a chain. */
export function wasmFilters(read: Reader, { side, port }: TrafficPlace, level: PluginUse["level"]): PhasedFilters {
  const uses = read.pluginUses(side).filter((use) => use.level === level && (use.ports?.includes(port) ?? true));
  const of = (phase: PluginUse["phase"]) => uses.filter((use) => use.phase === phase).map((use) => filter(read, use));
  return {
    authentication: of("AUTHN"),
    authorization: of("AUTHZ"),
    others: [...of("STATS"), ...of("UNSPECIFIED_PHASE")],
  };
}

/** All of a chain that carries requests and has network filters of nothing else before its connection manager. */
export function wasmNetworkFilters(read: Reader, place: TrafficPlace): readonly DiscoveredFilter[] {
  const { authentication, authorization, others } = wasmFilters(read, place, "network");
  return [...authentication, ...authorization, ...others];
}

/** Keys of the plugins whose filters the listeners of a side may have. */
export function pluginCauses(read: Reader, side: TelemetrySide): string[] {
  return read.pluginUses(side).map(({ key }) => key);
}

function filter(read: Reader, { name, level }: PluginUse): DiscoveredFilter {
  // Envoy refuses a listener that names a type which its build lacks. RBAC stands in for a module that cannot run.
  const types = [...(hasExtension(read, WASM_FILTER[level]) ? ["wasm.v3.Wasm"] : []), "rbac.v3.RBAC"];
  return {
    name,
    config_discovery: {
      // Without an end: plugins may authorize requests.
      config_source: { ads: {}, resource_api_version: ApiVersion.V3, initial_fetch_timeout: duration(0) },
      type_urls: types.map((type) => `${TYPE_URL_PREFIX}envoy.extensions.filters.${level}.${type}`),
    },
  };
}
