/**
 * Admits or refuses connections that carry bytes, by rules or by asking an external authorizer.
 *
 * @module
 */
import { ApiVersion } from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";
import type { Authorizer } from "../http/ext_authz/authorizer.ts";
import { grpcService } from "../http/ext_authz/filter.ts";

type Filter = envoy.config.listener.v3.Filter;
type NetworkRbac = envoy.extensions.filters.network.rbac.v3.RBAC;

/** Name of the filter that judges by rules. */
export const NETWORK_RBAC = "envoy.filters.network.rbac";

/** Name of the filter that asks an authorizer. */
export const NETWORK_EXT_AUTHZ = "envoy.filters.network.ext_authz";

/** Prefix of the statistics of both filters (Istio's value). */
const STAT_PREFIX = "tcp.";

/** Judges by rules, at the client's first byte. */
export function networkRbacFilter(config: Omit<NetworkRbac, "stat_prefix">): Filter {
  const message: NetworkRbac = { ...config, stat_prefix: STAT_PREFIX };
  return { name: NETWORK_RBAC, typed_config: any("envoy.extensions.filters.network.rbac.v3.RBAC", message) };
}

/** @param asked Matches the metadata of connections to ask about. */
export function networkExtAuthzFilter(authorizer: Authorizer, asked: envoy.type.matcher.v3.MetadataMatcher): Filter {
  const config: envoy.extensions.filters.network.ext_authz.v3.ExtAuthz = {
    stat_prefix: STAT_PREFIX,
    grpc_service: grpcService(authorizer),
    failure_mode_allow: authorizer.grpc?.failOpen ?? false,
    transport_api_version: ApiVersion.V3,
    filter_enabled_metadata: asked,
  };
  return {
    name: NETWORK_EXT_AUTHZ,
    typed_config: any("envoy.extensions.filters.network.ext_authz.v3.ExtAuthz", config),
  };
}
