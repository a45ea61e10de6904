/**
 * Answers by the proxy itself: redirects and direct responses.
 *
 * @module
 */
import type { HttpDirectResponse, HttpRedirect } from "../../config/kinds/kinds.ts";
import { RedirectAction_RedirectResponseCode as Code } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";

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
 * @returns Undefined for a code that is not a redirect.
 */
export function redirectAction(redirect: HttpRedirect, port: number, tls: boolean): RedirectAction | undefined {
  const response_code = CODES[redirect.redirectCode ?? 301];
  if (response_code === undefined) return undefined;
  const target = redirectPort(redirect, port, tls);
  return {
    response_code,
    ...(redirect.authority ? { host_redirect: redirect.authority } : {}),
    ...(redirect.uri ? { path_redirect: redirect.uri } : {}),
    ...(redirect.scheme ? { scheme_redirect: redirect.scheme } : {}),
    ...(target ? { port_redirect: target } : {}),
  };
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
