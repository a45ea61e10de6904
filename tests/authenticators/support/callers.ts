/**
 * Callers' credentials, for tests: certificates of an authority in memory, tokens, headers.
 * @module
 */
import { readCertificate } from "../../../lib/pki/certificate.ts";
import { issueLeaf, type Issuer, issueRoot } from "../../../lib/pki/issue.ts";
import { PrivateKey } from "../../../lib/pki/private_key.ts";
import type { CallerCredentials } from "../../../lib/authenticators/caller.ts";
import type { TlsState } from "../../../lib/sockets/transport/peer.ts";

const HOUR = 3_600_000;
const key = await PrivateKey.generate({ type: "EC", curve: "P-256" });
const validity = { notBefore: Date.now() - HOUR, notAfter: Date.now() + HOUR };
const root = await issueRoot(key, { ...validity, subject: { commonName: "root" } });
const issuer: Issuer = { certificate: readCertificate(root), key };

/** The SPIFFE ID of a workload of the tests' mesh. */
export const CART_ID = "spiffe://cluster.local/ns/shop/sa/cart";

/** A TLS connection without a client certificate. */
export const ANONYMOUS_TLS: TlsState = {
  protocol: "TLSv1.3",
  cipher: "TLS_AES_128_GCM_SHA256",
  verified: false,
  unverifiedReason: "no certificate",
  chain: [],
};

/** A TLS connection whose client showed a verified certificate with the given URIs. */
export async function withCertificate(...uris: string[]): Promise<TlsState> {
  const leaf = await issueLeaf(issuer, { ...validity, spki: key.spki, names: { uris } });
  const { protocol, cipher } = ANONYMOUS_TLS;
  return { protocol, cipher, verified: true, chain: [leaf, root] };
}

/** A caller from an address; without `tls` in plain text. */
export function caller(
  headers: Record<string, string>,
  tls?: TlsState,
  address = "192.0.2.7:40000",
): CallerCredentials {
  return { headers, peer: tls === undefined ? { address } : { address, tls } };
}
