/**
 * Proof by a gateway: the gateway verified the client's certificate, and forwards its content in the header
 * `x-forwarded-client-cert`. Gateways are trusted by their address alone, so this proof is for trusted networks.
 *
 * Format of the header: https://www.envoyproxy.io/docs/envoy/v1.40.0/configuration/http/http_conn_man/headers
 *
 * @module
 */
import { type AddressRange, isFrom } from "./addresses.ts";
import { type Authenticator, type CallerCredentials, NotAuthenticated } from "./caller.ts";
import { type TrustDomains, workloadIdentity } from "./trust.ts";
import { parseXfcc } from "./xfcc_header.ts";

/** The header's name. */
const XFCC_HEADER = "x-forwarded-client-cert";

/**
 * Trusts gateways in the ranges, and on this machine. If several proxies have added to the header, the last element
 * counts: the gateway itself saw the certificate in the last element, and its client may have sent the other elements.
 * All readers must agree on the last element, so a header with any irregularity proves nothing.
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
        throw new NotAuthenticated(`got the header from ${peer.address}, expected an address in TRUSTED_GATEWAY_CIDR`);
      }
      const uris = parseXfcc(header).at(-1)!.flatMap(([key, value]) => key === "uri" ? [value] : []);
      if (uris.length !== 1) {
        throw new NotAuthenticated(`got ${uris.length} URIs in the last element, expected exactly one, a SPIFFE ID`);
      }
      return workloadIdentity(uris[0]!, domains());
    },
  };
}
