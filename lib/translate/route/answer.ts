/**
 * Answers by the proxy itself: redirects and direct responses.
 *
 * @module
 */
import type { HttpDirectResponse, HttpRedirect } from "../../config/kinds/kinds.ts";
import type { RedirectPath } from "../../config/kinds/virtual_service/internal.ts";
import { RedirectAction_RedirectResponseCode as Code } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { regexMatcher } from "../values/regex.ts";

type RedirectAction = envoy.config.route.v3.RedirectAction;

const CODES: Readonly<Record<number, RedirectAction["response_code"]>> = {
  301: Code.MOVED_PERMANENTLY,
  302: Code.FOUND,
  303: Code.SEE_OTHER,
  307: Code.TEMPORARY_REDIRECT,
  308: Code.PERMANENT_REDIRECT,
};

/**
 * Translates a redirect.
 *
 * @param port The dialled port (`FROM_REQUEST_PORT`).
 * @param tls Whether requests arrive over TLS, to know the default port.
 * @param path Changes the path. Default: `uri` of the redirect.
 * @returns Undefined for a code that is not a redirect.
 */
export function redirectAction(
  redirect: HttpRedirect,
  port: number,
  tls: boolean,
  path?: RedirectPath,
): RedirectAction | undefined {
  const response_code = CODES[redirect.redirectCode ?? 301];
  if (response_code === undefined) return undefined;
  const target = redirectPort(redirect, port, tls);
  return {
    response_code,
    ...(redirect.authority ? { host_redirect: redirect.authority } : {}),
    ...(redirect.uri ? { path_redirect: redirect.uri } : {}),
    ...(redirect.scheme ? { scheme_redirect: redirect.scheme } : {}),
    ...(target ? { port_redirect: target } : {}),
    ...(path ? redirectedPath(path) : {}),
  };
}

function redirectedPath({ prefix, regex }: RedirectPath): Pick<RedirectAction, "prefix_rewrite" | "regex_rewrite"> {
  if (regex === undefined) return prefix === undefined ? {} : { prefix_rewrite: prefix };
  return { regex_rewrite: { pattern: regexMatcher(regex.match), substitution: regex.rewrite } };
}

/**
 * The default port of the redirect's scheme, where the redirect must name the port. If clients name the listener's port
 * in the Host header and the redirect names neither host nor port, Envoy would send clients to the listener's port.
 */
export function hiddenPort(
  { authority, port, derivePort, scheme = "" }: HttpRedirect,
  listenerPort: number,
  tls: boolean,
): number | undefined {
  const defaults: Readonly<Record<string, number>> = { http: 80, https: 443 };
  const own = tls ? "https" : "http";
  const wanted = defaults[scheme || own];
  if (authority || wanted === undefined || listenerPort === defaults[own]) return undefined;
  const written = derivePort === "FROM_REQUEST_PORT" ? listenerPort : port ?? wanted;
  return written === wanted ? wanted : undefined;
}

/** The explicit port. Undefined for the scheme's default. */
function redirectPort(redirect: HttpRedirect, port: number, tls: boolean): number | undefined {
  const wanted = redirect.derivePort === "FROM_REQUEST_PORT" ? port : redirect.port;
  const scheme = redirect.scheme || (tls ? "https" : "http");
  return wanted === (scheme === "https" ? 443 : scheme === "http" ? 80 : undefined) ? undefined : wanted;
}

/** Translates a direct response. Envoy takes codes from 200 to 599; undefined for others. */
export function directResponse(response: HttpDirectResponse): envoy.config.route.v3.DirectResponseAction | undefined {
  const { status, body } = response;
  if (status < 200 || status > 599) return undefined;
  if (body?.string !== undefined) return { status, body: { inline_string: body.string } };
  if (body?.bytes !== undefined) return { status, body: { inline_bytes: Uint8Array.fromBase64(body.bytes) } };
  return { status };
}
