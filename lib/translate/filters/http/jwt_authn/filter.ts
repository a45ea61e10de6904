/**
 * `envoy.filters.http.jwt_authn`: verifies tokens (JWT). A request without one passes; one with a token that no rule
 * accepts gets 401.
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

/** Findings of a proxy whose build cannot verify tokens. */
export function unverifiableFindings(read: Reader): Finding[] {
  if (tokenFilters(read) !== undefined) return [];
  const text = `ports of HTTP are closed: the proxy's build lacks ${JWT_FILTER}, by which tokens are verified`;
  return read.tokenPolicy().causes.map((cause) => lossOf("not-as-written", [cause], text));
}

/**
 * The filters that verify tokens by the RequestAuthentication of the workload: one, or none without rules.
 *
 * @returns Undefined: the proxy's build cannot verify them, so that no request may be let in.
 */
export function tokenFilters(read: Reader): readonly HttpFilter[] | undefined {
  const { rules } = read.tokenPolicy();
  if (rules.length === 0) return [];
  if (!hasExtension(read, JWT_FILTER)) return undefined;
  const names = rules.map((_, index) => `origins-${index}`);
  const config: JwtAuthentication = {
    providers: Object.fromEntries(rules.map((rule, index) => [names[index], jwtProvider(read, rule)])),
    rules: [{ match: { prefix: "/" }, requires: requirement(names) }],
    // A browser's question whether it may ask never carries a token.
    bypass_cors_preflight: true,
  };
  const type = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";
  return [{ name: JWT_FILTER, typed_config: any(type, config) }];
}

/**
 * A request passes with a token that one rule accepts, or where each rule accepts its token or finds none: two rules
 * that look at the same place never both accept the token there.
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
