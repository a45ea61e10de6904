/**
 * Cross-origin policy of a rule: per-route configuration of Envoy's CORS filter.
 *
 * @module
 */
import type { CorsPolicy } from "../../../../config/kinds/kinds.ts";
import { wrap } from "../../../../pb/wellknown.ts";
import type { envoy } from "../../../../../proto/gen/types.ts";
import { fractionOf } from "../../../values/fraction.ts";
import { stringMatcher } from "../../../values/string_matcher.ts";

/** Name of the filter, and of the per-route configuration. */
export const CORS_FILTER = "envoy.filters.http.cors";

/** Translates a policy. Preflights of other origins are forwarded unless `unmatchedPreflights` is IGNORE. */
export function corsPolicy(cors: CorsPolicy): envoy.extensions.filters.http.cors.v3.CorsPolicy {
  const origins = cors.allowOrigins?.length
    ? cors.allowOrigins.flatMap((origin) => stringMatcher(origin) ?? [])
    : (cors.allowOrigin ?? []).map((exact) => ({ exact }));
  return {
    ...(origins.length ? { allow_origin_string_match: origins } : {}),
    ...(cors.allowMethods?.length ? { allow_methods: cors.allowMethods.join(",") } : {}),
    ...(cors.allowHeaders?.length ? { allow_headers: cors.allowHeaders.join(",") } : {}),
    ...(cors.exposeHeaders?.length ? { expose_headers: cors.exposeHeaders.join(",") } : {}),
    ...(cors.maxAge === undefined ? {} : { max_age: String(Math.trunc(cors.maxAge / 1000)) }),
    ...(cors.allowCredentials === undefined ? {} : { allow_credentials: wrap(cors.allowCredentials) }),
    forward_not_matching_preflights: wrap(cors.unmatchedPreflights !== "IGNORE"),
    filter_enabled: { default_value: fractionOf(100) },
  };
}
