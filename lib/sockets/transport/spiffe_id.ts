/**
 * Reads the SPIFFE ID of a peer's verified certificate.
 *
 * @module
 */
import { readCertificate } from "../../pki/certificate.ts";
import { PkiError } from "../../pki/pki_error.ts";
import { isSpiffeId } from "../../pki/spiffe.ts";
import type { Peer } from "./peer.ts";

/**
 * The identity of a peer, e.g. `spiffe://cluster.local/ns/shop/sa/cart`. Undefined without a verified certificate. Also
 * undefined if the certificate does not hold exactly one URI, or the URI has another scheme.
 *
 * Rule: https://github.com/spiffe/spiffe/blob/main/standards/X509-SVID.md#2-spiffe-id
 */
export function spiffeId({ tls }: Peer): string | undefined {
  const leaf = tls?.chain[0];
  if (!tls?.verified || leaf === undefined) return undefined;
  const [uri, ...more] = uris(leaf);
  return uri !== undefined && more.length === 0 && isSpiffeId(uri) ? uri : undefined;
}

/**
 * The URIs of leaves by the array of bytes. The bytes never change, and each call on a connection has the same array.
 */
const known = new WeakMap<Uint8Array, readonly string[]>();

/** The URIs among a certificate's alternative names; empty: no URI, or an unreadable certificate. */
function uris(der: Uint8Array): readonly string[] {
  return known.getOrInsertComputed(der, readUris);
}

function readUris(der: Uint8Array): readonly string[] {
  try {
    return readCertificate(der).names.uris;
  } catch (error) {
    if (error instanceof PkiError) return [];
    throw error;
  }
}
