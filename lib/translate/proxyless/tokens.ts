/**
 * Tokens of end users at gRPC libraries, which verify none: calls that carry one are refused, those without pass on, as
 * they do at proxies.
 *
 * @module
 */
import { RBAC_Action as Action } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { JwtRule } from "../../config/kinds/request_authentication/types.ts";
import { isHidden } from "../authorization/principals.ts";
import { HTTP_RBAC, httpRbacFilter } from "../filters/http/rbac/filter.ts";

type Permission = envoy.config.rbac.v3.Permission;

/** The filter that refuses calls with a token in a place that some rule names; undefined: there are no rules. */
export function tokenRefusal(
  rules: readonly JwtRule[],
): envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter | undefined {
  if (rules.length === 0) return undefined;
  const permissions = rules.flatMap(placesOf);
  const policies = { tokens: { permissions, principals: [{ any: true }] } };
  // A policy needs a permission: tokens in the query alone come with no call.
  if (permissions.length === 0) return undefined;
  return { ...httpRbacFilter({ rules: { action: Action.DENY, policies } }), name: `${HTTP_RBAC}.tokens` };
}

function placesOf({ fromHeaders = [], fromParams = [], fromCookies = [] }: JwtRule): Permission[] {
  if (fromHeaders.length + fromParams.length + fromCookies.length === 0) {
    return [{ header: { name: "authorization", string_match: { prefix: "Bearer " } } }];
  }
  const headers = [...fromHeaders.map(({ name }) => name), ...fromCookies.length > 0 ? ["cookie"] : []];
  return headers.map((name): Permission => isHidden(name) ? { any: true } : { header: { name, present_match: true } });
}
