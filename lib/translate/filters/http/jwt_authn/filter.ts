/**
 * `envoy.filters.http.jwt_authn`: verifies tokens (JWT). A request without a token passes. A token that no rule accepts
 * gets 401.
 *
 * @module
 */
import type { envoy } from "../../../../../proto/gen/types.ts";
import { type Finding, lossOf } from "../../../../finding/finding.ts";
import { any } from "../../../../pb/codec.ts";
import type { Reader } from "../../../reader/reader.ts";
import { hasExtension } from "../../extension.ts";
import { JWT_FILTER } from "../jwt_payload.ts";
import { jwtProvider } from "./provider.ts";

type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
type JwtRequirement = envoy.extensions.filters.http.jwt_authn.v3.JwtRequirement;
type JwtAuthentication = envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication;

/** Findings about a proxy whose build cannot verify tokens. */
export function unverifiableFindings(read: Reader): Finding[] {
  if (tokenFilters(read) !== undefined) return [];
  const text = `HTTP ports are closed: the proxy's build lacks ${JWT_FILTER}, which verifies tokens`;
  return read.tokenPolicy().causes.map((cause) => lossOf("not-as-written", [cause], text));
}

/**
 * The filter that verifies tokens by the workload's RequestAuthentications. Empty without rules.
 *
 * @returns Undefined: the proxy's build cannot verify tokens, so no request may be admitted.
 */
export function tokenFilters(read: Reader): readonly HttpFilter[] | undefined {
  const { rules } = read.tokenPolicy();
  if (rules.length === 0) return [];
  if (!hasExtension(read, JWT_FILTER)) return undefined;
  const names = rules.map((_, index) => `origins-${index}`);
  const config: JwtAuthentication = {
    providers: Object.fromEntries(rules.map((rule, index) => [names[index], jwtProvider(read, rule)])),
    rules: [{ match: { prefix: "/" }, requires: requirement(names) }],
    // A preflight request of a browser never carries a token.
    bypass_cors_preflight: true,
  };
  const type = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";
  return [{ name: JWT_FILTER, typed_config: any(type, config) }];
}

/**
 * A request passes if one rule accepts its token, or if each rule either accepts its token or finds no token. Two rules
 * with the same token location never both accept the token.
 */
function requirement(names: readonly string[]): JwtRequirement {
  const accepted = (name: string): JwtRequirement => ({ provider_name: name });
  const orMissing = names.map((name) => anyOf([accepted(name), { allow_missing: {} }]));
  const [only] = orMissing;
  if (orMissing.length === 1 && only) return only;
  return anyOf([...names.map(accepted), { requires_all: { requirements: orMissing } }]);
}

function anyOf(requirements: JwtRequirement[]): JwtRequirement {
  return { requires_any: { requirements } };
}
