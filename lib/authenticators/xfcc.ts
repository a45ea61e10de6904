/**
 * Proof by a gateway: it verified the client's certificate, and forwards what is in it by the header
 * `x-forwarded-client-cert`. Gateways are believed by their address alone, so this is for networks that are trusted.
 *
 * Format of the header: https://www.envoyproxy.io/docs/envoy/v1.40.0/configuration/http/http_conn_man/headers
 *
 * @module
 */
import { type AddressRange, isFrom } from "./addresses.ts";
import { type Authenticator, type CallerCredentials, NotAuthenticated } from "./caller.ts";
import { type TrustDomains, workloadIdentity } from "./trust.ts";

/** The header's name. */
export const XFCC_HEADER = "x-forwarded-client-cert";

/**
 * Believes gateways in these ranges, and on this machine. Where several proxies have added to the header, the last
 * element counts: it is what the gateway itself saw; the others may be whatever its client sent.
 *
 * @param domains asked at each call, since the mesh configuration may change
 */
export function xfccAuthenticator(ranges: readonly AddressRange[], domains: () => TrustDomains): Authenticator {
  return {
    name: "forwarded client certificate",
    authenticate({ peer, headers }: CallerCredentials) {
      const header = headers[XFCC_HEADER];
      if (header === undefined || header === "") throw new NotAuthenticated(`no header ${XFCC_HEADER}`);
      if (!isFrom(peer, ranges)) {
        throw new NotAuthenticated(`got it from ${peer.address}, expected an address in TRUSTED_GATEWAY_CIDR`);
      }
      const uris = uriValues(header);
      if (uris.length !== 1) {
        throw new NotAuthenticated(`got ${uris.length} URIs in the last element, expected exactly one, a SPIFFE ID`);
      }
      return workloadIdentity(uris[0]!, domains());
    },
  };
}

/** Values of the `URI` keys in the last element of the header. */
function uriValues(header: string): string[] {
  const last = splitOutsideQuotes(header, ",").at(-1) ?? "";
  return splitOutsideQuotes(last, ";").flatMap((pair) => {
    const at = pair.indexOf("=");
    if (at < 0 || pair.slice(0, at).trim().toLowerCase() !== "uri") return [];
    const value = pair.slice(at + 1).trim();
    return [/^".*"$/.test(value) ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value];
  });
}

/** Splits a text where it does not stand in double quotes; a backslash takes the meaning from the character after it. */
function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let quoted = false;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (quoted && text[i] === "\\") i++;
    else if (text[i] === '"') quoted = !quoted;
    else if (!quoted && text[i] === separator) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}
