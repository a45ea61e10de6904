/**
 * Tokens in a request, as the filter that verifies them looks for them.
 *
 * @module
 */
import type { envoy, google } from "../../proto/gen/types.ts";
import { unpack } from "./decode.ts";
import { type NormalizedRequest, valuesOf } from "./http_request.ts";

type JwtProvider = envoy.extensions.filters.http.jwt_authn.v3.JwtProvider;

const TYPE = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";

/** Whether the request has anything where the filter of that configuration looks for a token; of another filter: no. */
export function carriesToken(config: google.protobuf.Any | undefined, request: NormalizedRequest): boolean {
  const filter = unpack<envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication>(config, TYPE);
  return Object.values(filter?.providers ?? {}).some((provider) => hasToken(provider, request));
}

/** Places that are looked at where a provider names none. */
const USUAL = { headers: [{ name: "authorization", value_prefix: "Bearer " }], params: ["access_token"], cookies: [] };

function hasToken({ from_headers, from_params, from_cookies }: JwtProvider, request: NormalizedRequest): boolean {
  const own = { headers: from_headers ?? [], params: from_params ?? [], cookies: from_cookies ?? [] };
  const named = own.headers.length + own.params.length + own.cookies.length > 0;
  const { headers, params, cookies } = named ? own : USUAL;
  const given = new URLSearchParams(request.path.split("?")[1] ?? "");
  const baked = valuesOf(request, "cookie").flatMap((one) => one.split(";").map((pair) => pair.split("=")[0]!.trim()));
  const carries = (name: string, prefix: string) => valuesOf(request, name).some((value) => value.includes(prefix));
  return headers.some(({ name = "", value_prefix = "" }) => carries(name, value_prefix)) ||
    params.some((name) => given.has(name)) || cookies.some((name) => baked.includes(name));
}
