/**
 * Asks an endpoint picker about requests whose route leads to an InferencePool. Does nothing on all other routes.
 *
 * The protocol is the Endpoint Picker Protocol of the Gateway API's Inference Extension: the picker sees headers, body and
 * trailers in both directions, and names endpoints in a header and in metadata.
 *
 * @module
 */
import {
  ExternalProcessor_RouteCacheAction as RouteCacheAction,
  ProcessingMode_BodySendMode as BodyMode,
  ProcessingMode_HeaderSendMode as HeaderMode,
} from "../../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../../proto/gen/types.ts";
import { any } from "../../../../pb/codec.ts";
import type { Reader } from "../../../reader/reader.ts";
import { hasExtension } from "../../extension.ts";

type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;

/** The extension behind {@linkcode PICKER_FILTER}. */
const EXT_PROC = "envoy.filters.http.ext_proc";

/**
 * Name of the filter, and of the per-route configuration. A patch may add filters of the same extension under the extension's
 * name, and routes to pools must not configure such filters.
 */
export const PICKER_FILTER = "mesh.endpoint_picker";

/** Name of the filter that removes endpoints chosen by a client, and of the per-route configuration. */
export const CHOICE_FILTER = "mesh.clear_endpoint_choice";

/** The header with the picked endpoints. */
export const PICKED_HEADER = "x-gateway-destination-endpoint";

/** The metadata with the picked endpoints, under the name of the header. */
export const PICKED_NAMESPACE = "envoy.lb";

/** The metadata with the endpoint that answered. */
export const SERVED_KEY = "x-gateway-destination-endpoint-served";

/** The extension behind {@linkcode CHOICE_FILTER}. */
const HEADER_MUTATION = "envoy.filters.http.header_mutation";

/** Whether the proxy's build can ask an endpoint picker. */
export function canPick(read: Reader): boolean {
  return hasExtension(read, EXT_PROC) && hasExtension(read, HEADER_MUTATION);
}

/** What a picker sees of the requests of its routes: everything. */
export const SEES_ALL = {
  request_header_mode: HeaderMode.SEND,
  response_header_mode: HeaderMode.SEND,
  request_body_mode: BodyMode.FULL_DUPLEX_STREAMED,
  response_body_mode: BodyMode.FULL_DUPLEX_STREAMED,
  request_trailer_mode: HeaderMode.SEND,
  response_trailer_mode: HeaderMode.SEND,
} as const;

/** Other requests: no picker is asked. */
const SEES_NOTHING = {
  request_header_mode: HeaderMode.SKIP,
  response_header_mode: HeaderMode.SKIP,
  request_body_mode: BodyMode.NONE,
  response_body_mode: BodyMode.NONE,
  request_trailer_mode: HeaderMode.SKIP,
  response_trailer_mode: HeaderMode.SKIP,
} as const;

/**
 * The filters of gateways for InferencePools, in order. They act by the settings of the route. They are not disabled:
 * Envoy decides about disabled filters by the first route of a request, and a claim of the request's token may lead to
 * another route. A request would then reach a pool without being picked, at the endpoint that the client names.
 */
export function endpointPickerFilters(): HttpFilter[] {
  const namespaces = { untyped: [PICKED_NAMESPACE] };
  const config: envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor = {
    // Each route names its own picker. A route without a picker would get no answer here, and fail.
    grpc_service: { envoy_grpc: { cluster_name: NO_PICKER } },
    processing_mode: SEES_NOTHING,
    metadata_options: { forwarding_namespaces: namespaces, receiving_namespaces: namespaces },
    // A picker picks endpoints of the pool, and no other route.
    route_cache_action: RouteCacheAction.RETAIN,
  };
  return [
    {
      name: CHOICE_FILTER,
      typed_config: any("envoy.extensions.filters.http.header_mutation.v3.HeaderMutation"),
    },
    {
      name: PICKER_FILTER,
      typed_config: any("envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor", config),
    },
  ];
}

/** Name of a cluster that never exists. */
const NO_PICKER = "NoEndpointPicker";
