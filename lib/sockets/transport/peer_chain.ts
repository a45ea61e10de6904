/**
 * The chain of a TLS peer, judged again by the rules of certificates.
 *
 * The runtime's TLS (Deno 2.8.3: webpki) verifies signatures, dates and names only. It accepts certificates signed by
 * an authority without the right to sign, and certificates whose key is only for encipherment. OpenSSL and the proxies
 * refuse both, and so does this module.
 *
 * @module
 */
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { type Certificate, readCertificate } from "../../pki/certificate.ts";
import { type ChainResult, verifyChain } from "../../pki/chain.ts";
import type { Purpose } from "../../pki/chain_rules.ts";
import { pemKind, readPem } from "../../pki/pem.ts";
import { PkiError } from "../../pki/pki_error.ts";

/** Most signatures to try for a peer. The peer chose the certificates; trying takes 5 to 20 ms of this thread. */
const MOST_SIGNATURES = 10;

/** How a chain is judged. */
export interface PeerChainOptions {
  readonly roots: readonly Certificate[];
  readonly purpose: Purpose;
  /** The runtime has verified the signatures against the same roots, in this handshake. */
  readonly signaturesProven: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The certificates shown by the other side of an open connection, in the order shown; the last may be a root. */
export function presentedChain(socket: TLSSocket): Uint8Array[] {
  const chain: Uint8Array[] = [];
  const seen = new Set<string>();
  let at = socket.getPeerCertificate(true) as DetailedPeerCertificate | undefined;
  while (at?.raw !== undefined && !seen.has(at.fingerprint256)) {
    seen.add(at.fingerprint256);
    chain.push(new Uint8Array(at.raw));
    at = at.issuerCertificate;
  }
  return chain;
}

/** Looks for a chain from the first certificate to a root over the others, and says why there is none. */
export function judgePeerChain(presented: readonly Uint8Array[], options: PeerChainOptions): ChainResult {
  const [first, ...others] = presented;
  if (first === undefined) return { reason: "no certificate" };
  const leaf = readOr(first);
  if ("reason" in leaf) return leaf;
  const intermediates = others.map(readOr).filter(isRead);
  return verifyChain(leaf, { ...options, intermediates, signatures: MOST_SIGNATURES });
}

/** The readable certificates in a text of roots. An unreadable certificate cannot be in any chain. */
export function readableRoots(pem: string): Certificate[] {
  const blocks = readPem(pem, "roots").filter(({ label }) => pemKind(label) === "certificate");
  return blocks.map(({ der }) => readOr(der)).filter(isRead);
}

function readOr(der: Uint8Array): Certificate | { readonly reason: string } {
  try {
    return readCertificate(der);
  } catch (error) {
    if (error instanceof PkiError) return { reason: error.message };
    throw error;
  }
}

function isRead(one: Certificate | { readonly reason: string }): one is Certificate {
  return !("reason" in one);
}
