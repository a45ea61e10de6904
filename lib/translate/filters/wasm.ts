/**
 * Filters of WasmPlugins. Each filter requests its configuration by name (ECDS), so a change of the module or its
 * configuration changes no listener.
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

/** The place of a filter chain. */
export interface TrafficPlace {
  readonly side: TelemetrySide;
  /** Port of the listener, or the workload's port on the inbound side. 0: any. */
  readonly port: number;
  /** Inside HBONE: the connection's certificate is not the client's. */
  readonly hbone?: true;
}

/** A filter with a configuration from ECDS. */
interface DiscoveredFilter {
  readonly name: string;
  readonly config_discovery: envoy.config.core.v3.ExtensionConfigSource;
}

/** Filters by the step at which each filter runs. */
export interface PhasedFilters {
  /** Before the caller's identity is known. */
  readonly authentication: readonly DiscoveredFilter[];
  /** Before the caller's permission is judged. */
  readonly authorization: readonly DiscoveredFilter[];
  /** After authorization: first phase STATS, then filters without a phase. */
  readonly others: readonly DiscoveredFilter[];
}

/** Envoy's extensions that run Wasm modules. */
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

/**
 * All network filters of a chain that carries requests. The chain has no other network filters before its connection
 * manager.
 */
export function wasmNetworkFilters(read: Reader, place: TrafficPlace): readonly DiscoveredFilter[] {
  const { authentication, authorization, others } = wasmFilters(read, place, "network");
  return [...authentication, ...authorization, ...others];
}

/** Keys of the plugins with filters in the listeners of a side. */
export function pluginCauses(read: Reader, side: TelemetrySide): string[] {
  return read.pluginUses(side).map(({ key }) => key);
}

function filter(read: Reader, { name, level }: PluginUse): DiscoveredFilter {
  // Envoy refuses a listener that names a type missing from Envoy's build. RBAC replaces a module that cannot run.
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
