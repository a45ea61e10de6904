/**
 * Requests that a proxy answers itself because of a fault that their route asks for.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { type ConfiguredFilter, unpack } from "./decode.ts";
import { shareOf } from "./share.ts";
import type { RouteStep } from "./types.ts";

type FaultLevel = Pick<envoy.config.route.v3.Route | envoy.config.route.v3.VirtualHost, "typed_per_filter_config">;
type FaultSetting = envoy.extensions.filters.http.fault.v3.HTTPFault;

/** Name of the filter, by which routes set it. */
const FAULT = "envoy.filters.http.fault";

/** Whether the filter is there; without it what routes say of it is not read. */
export function injectsFaults(filters: readonly ConfiguredFilter[]): boolean {
  return filters.some(({ name }) => name === FAULT);
}

/**
 * The abort of a route, or else of its virtual host; undefined: there is none.
 *
 * @returns Undefined also where conditions about clients or clusters narrow it, which translation never writes.
 */
export function abortOf(levels: readonly FaultLevel[]): RouteStep["abort"] {
  const [set] = levels.flatMap(({ typed_per_filter_config }) => typed_per_filter_config?.[FAULT] ?? []);
  const fault = unpack<FaultSetting>(set, "envoy.extensions.filters.http.fault.v3.HTTPFault");
  const { abort, headers = [], downstream_nodes = [], upstream_cluster = "" } = fault ?? {};
  if (abort === undefined || headers.length > 0 || downstream_nodes.length > 0 || upstream_cluster !== "") {
    return undefined;
  }
  const status = abort.http_status ?? HTTP_OF_GRPC[abort.grpc_status ?? -1];
  // Envoy reads a missing percentage as 0, other than a missing fraction elsewhere.
  const share = abort.percentage === undefined ? 0 : shareOf({ default_value: abort.percentage });
  return status === undefined || share === 0 ? undefined : { status, share };
}

/** HTTP statuses that Envoy answers for statuses of gRPC, by their number. */
const HTTP_OF_GRPC: readonly number[] = [
  ...[200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401],
];
