/**
 * An issuer of tokens in Envoy's form.
 *
 * @module
 */
import type { envoy } from "../../../../../proto/gen/types.ts";
import { EMPTY_KEY_SET, keyPlaceOf } from "../../../../config/kinds/request_authentication/key_set.ts";
import type { JwtRule } from "../../../../config/kinds/request_authentication/schema.ts";
import { duration } from "../../../../pb/wellknown.ts";
import { clusterName } from "../../../destination/cluster_name.ts";
import type { Reader } from "../../../reader/reader.ts";
import { aspect } from "../../../reader/aspect.ts";
import { JWT_PAYLOAD_KEY } from "../jwt_payload.ts";

type JwtProvider = envoy.extensions.filters.http.jwt_authn.v3.JwtProvider;
type KeySource = Pick<JwtProvider, "local_jwks" | "remote_jwks">;

/** Default time limit of a proxy's fetch of keys, ms (Istio's value). */
const FETCH_TIMEOUT_MS = 5000;

/** Age at which a proxy fetches keys again, ms (Istio's value). */
const CACHE_MS = 300_000;

/**
 * Claims with several values separated by spaces. In metadata these claims are lists, so a rule can match a single
 * value.
 */
const SPACE_DELIMITED_CLAIMS: readonly string[] = ["scope", "permission"];

/**
 * A key set that no token fits, used when an issuer has no keys: Envoy refuses a listener with an empty key set. The
 * curve point was not derived from a private key: x is the SHA-256 of the text `no token fits this key 0`, so nobody
 * can sign for the key.
 */
export const UNUSED_KEYS = '{"keys":[{"alg":"ES256","crv":"P-256","kid":"none","kty":"EC",' +
  '"x":"DCh6vuIBuKkPRb4JRNKO2t7uRUkAlJokvDQv-xHXMz0","y":"pEXtkaXLR0nXOz2EoecsR6AfUpL8fV2b1p9aN1gGZOA"}]}';

/** The provider of a rule. */
export function jwtProvider(read: Reader, rule: JwtRule): JwtProvider {
  return {
    issuer: rule.issuer,
    ...(rule.audiences?.length ? { audiences: [...rule.audiences] } : {}),
    ...keySource(read, rule),
    ...(rule.forwardOriginalToken ? { forward: true } : {}),
    ...(rule.fromHeaders?.length
      ? { from_headers: rule.fromHeaders.map(({ name, prefix = "" }) => ({ name, value_prefix: prefix })) }
      : {}),
    ...(rule.fromParams?.length ? { from_params: [...rule.fromParams] } : {}),
    ...(rule.fromCookies?.length ? { from_cookies: [...rule.fromCookies] } : {}),
    ...(rule.outputPayloadToHeader ? { forward_payload_header: rule.outputPayloadToHeader } : {}),
    ...(rule.outputClaimToHeaders?.length
      ? {
        claim_to_headers: rule.outputClaimToHeaders.map(({ header, claim }) => ({
          header_name: header,
          claim_name: claim,
        })),
      }
      : {}),
    payload_in_metadata: JWT_PAYLOAD_KEY,
    normalize_payload_in_metadata: { space_delimited_claims: [...SPACE_DELIMITED_CLAIMS] },
    // Routes of gateways and waypoints match claims, but the first route is chosen before claims are known.
    ...(aspect(read, "gateways") || aspect(read, "waypoint") ? { clear_route_cache: true } : {}),
  };
}

function keySource(read: Reader, rule: JwtRule): KeySource {
  const place = keyPlaceOf(rule);
  if (place === undefined) return localKeys(rule.jwks);
  const remote = rule.jwksUri === undefined ? undefined : remoteKeys(read, rule.jwksUri, rule.timeout);
  return remote ?? localKeys(read.tokenKeys(place));
}

function localKeys(text = EMPTY_KEY_SET): KeySource {
  return { local_jwks: { inline_string: text === EMPTY_KEY_SET ? UNUSED_KEYS : text } };
}

/** Keys that the proxy fetches. Undefined when the server fetches the keys. */
function remoteKeys(read: Reader, uri: string, timeout = FETCH_TIMEOUT_MS): KeySource | undefined {
  const mode = read.settings.tokenKeysFetchedBy;
  if (mode === "server") return undefined;
  const { host, port } = keyHost(uri);
  const service = read.service(host);
  const known = service?.ports.some((one) => one.port === port) === true;
  if (!known && mode === "hybrid") return undefined;
  return {
    remote_jwks: {
      http_uri: {
        uri,
        cluster: clusterName(read, { host, port, subset: "", service }),
        timeout: duration(timeout),
      },
      cache_duration: duration(CACHE_MS),
    },
  };
}

/** The service behind the address of keys. */
export function keyHost(uri: string): { readonly host: string; readonly port: number } {
  const { hostname, port, protocol } = new URL(uri);
  return { host: hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) };
}
