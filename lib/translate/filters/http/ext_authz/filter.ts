/**
 * Asks an external authorizer about requests that an earlier rule matched.
 *
 * @module
 */
import { sentValue } from "../../../../config/mesh/export_settings.ts";
import { ApiVersion } from "../../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../../proto/gen/types.ts";
import type { ExtAuthzHttpProvider } from "../../../../config/mesh/provider_schema.ts";
import { any } from "../../../../pb/codec.ts";
import { duration } from "../../../../pb/wellknown.ts";
import { type Authorizer, statusOnError } from "./authorizer.ts";

type ExtAuthz = envoy.extensions.filters.http.ext_authz.v3.ExtAuthz;
type HttpService = envoy.extensions.filters.http.ext_authz.v3.HttpService;

/** Name of the filter. */
export const HTTP_EXT_AUTHZ = "envoy.filters.http.ext_authz";

/** @param asked Matches the metadata of requests to ask about. */
export function httpExtAuthzFilter(
  authorizer: Authorizer,
  asked: envoy.type.matcher.v3.MetadataMatcher,
): envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter {
  const { http, grpc } = authorizer;
  const settings = http ?? grpc;
  const status = settings && statusOnError(settings);
  const body = settings?.includeRequestBodyInCheck;
  const config: ExtAuthz = {
    ...(http ? { http_service: httpService(authorizer, http) } : { grpc_service: grpcService(authorizer) }),
    ...(http ? allowedHeaders(http) : {}),
    transport_api_version: ApiVersion.V3,
    failure_mode_allow: settings?.failOpen ?? false,
    ...(settings?.clearRouteCache ? { clear_route_cache: true } : {}),
    ...(status ? { status_on_error: status } : {}),
    ...(body
      ? {
        with_request_body: {
          max_request_bytes: body.maxRequestBytes ?? 0,
          allow_partial_message: body.allowPartialMessage ?? false,
          pack_as_bytes: body.packAsBytes ?? false,
        },
      }
      : {}),
    filter_enabled_metadata: asked,
  };
  return { name: HTTP_EXT_AUTHZ, typed_config: any("envoy.extensions.filters.http.ext_authz.v3.ExtAuthz", config) };
}

/** How an authorizer is called over gRPC. */
export function grpcService({ cluster, hostname, timeout }: Authorizer): envoy.config.core.v3.GrpcService {
  return { envoy_grpc: { cluster_name: cluster, authority: hostname }, timeout: duration(timeout) };
}

function httpService({ cluster, hostname, timeout }: Authorizer, settings: ExtAuthzHttpProvider): HttpService {
  const added = Object.entries(settings.includeAdditionalHeadersInCheck ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const answer = {
    ...headers("allowed_upstream_headers", settings.headersToUpstreamOnAllow),
    ...headers("allowed_client_headers", settings.headersToDownstreamOnDeny),
    ...headers("allowed_client_headers_on_success", settings.headersToDownstreamOnAllow),
  };
  return {
    server_uri: { uri: `http://${hostname}`, cluster, timeout: duration(timeout) },
    ...(settings.pathPrefix ? { path_prefix: settings.pathPrefix } : {}),
    ...(added.length > 0
      ? {
        authorization_request: {
          headers_to_add: added.map(([key, value]) => ({ key, value: sentValue(value, "own", "http") ?? "" })),
        },
      }
      : {}),
    ...(Object.keys(answer).length > 0 ? { authorization_response: answer } : {}),
  };
}

function allowedHeaders(settings: ExtAuthzHttpProvider): Pick<ExtAuthz, "allowed_headers"> {
  return headers("allowed_headers", settings.includeRequestHeadersInCheck ?? settings.includeHeadersInCheck);
}

function headers<K extends string>(
  field: K,
  names: readonly string[] = [],
): { readonly [F in K]?: envoy.type.matcher.v3.ListStringMatcher } {
  if (names.length === 0) return {};
  const list = { patterns: names.map((name) => ({ ...headerName(name), ignore_case: true })) };
  return { [field]: list } as { readonly [F in K]: typeof list };
}

function headerName(name: string): envoy.type.matcher.v3.StringMatcher {
  if (name.startsWith("*")) return { suffix: name.slice(1) };
  return name.endsWith("*") ? { prefix: name.slice(0, -1) } : { exact: name };
}
