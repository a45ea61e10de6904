/**
 * Connection managers that differ only in names and routes: everything else is encoded once.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { encode } from "../../pb/codec.ts";
import { joinedAny } from "../../pb/joined_any.ts";
import { wasmNetworkFilters } from "../filters/wasm.ts";
import type { Reader } from "../reader/reader.ts";
import { MANAGER, MANAGER_NAME, managerFields, type ManagerOptions, trafficSide } from "./http_connection_manager.ts";

type Filter = envoy.config.listener.v3.Filter;

/** The network filters of a chain that carries requests, without the connection manager's names and routes. */
export interface ManagerTemplate {
  /** Network filters before the connection manager. */
  readonly before: readonly Filter[];
  /** The other fields of the connection manager, encoded. */
  readonly fields: Uint8Array;
}

/** The fields of a connection manager that are missing in the template. */
export interface ManagerNames {
  /** As in {@linkcode ManagerOptions}' listener: `inbound_0.0.0.0_8080`, without the `;`. */
  readonly statPrefix: string;
  readonly routes: envoy.config.route.v3.RouteConfiguration;
}

/** The template for chains that carry requests. */
export function managerTemplate(read: Reader, options: ManagerOptions): ManagerTemplate {
  return {
    before: wasmNetworkFilters(read, { side: trafficSide(options), port: options.port }),
    fields: encode(MANAGER, managerFields(read, options)),
  };
}

/** The network filters of a chain. */
export function filtersOf({ before, fields }: ManagerTemplate, { statPrefix, routes }: ManagerNames): Filter[] {
  const own = encode(MANAGER, { stat_prefix: `${statPrefix};`, route_config: routes });
  return [...before, { name: MANAGER_NAME, typed_config: joinedAny(MANAGER, { shared: fields, own }) }];
}
