/**
 * The result of a finished TLS handshake.
 *
 * @module
 */
import { X509Certificate } from "node:crypto";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import type { TlsState } from "../transport/peer.ts";

/**
 * Reads the state of a handshake from a socket that is still open; a closed one has forgotten it.
 *
 * A resumed session is verified again: Deno 2.8.3 resumes sessions that began when other authorities were trusted, even
 * those of another listener of the same process, and calls their certificates authorized.
 *
 * @param authorities of client certificates, now
 */
export function tlsStateOf(socket: TLSSocket, authorities: readonly X509Certificate[]): TlsState {
  const presented = chainOf(socket.getPeerCertificate(true) as DetailedPeerCertificate | undefined);
  const reason = presented.length === 0 || authorities.length === 0
    ? "no certificate"
    : !socket.authorized
    ? String(socket.authorizationError)
    : socket.isSessionReused()
    ? whyUntrusted(presented, authorities, new Date())
    : undefined;
  const { servername } = socket as { servername?: string | false };
  return {
    protocol: socket.getProtocol() ?? "unknown",
    cipher: socket.getCipher().standardName,
    ...(servername ? { serverName: servername } : {}),
    verified: reason === undefined,
    ...(reason === undefined ? {} : { unverifiedReason: reason }),
    chain: reason === undefined ? presented : [],
  };
}

/** Follows the issuers; a root is its own. */
function chainOf(leaf: DetailedPeerCertificate | undefined): Uint8Array[] {
  const chain: Uint8Array[] = [];
  const seen = new Set<string>();
  let at = leaf;
  while (at?.raw !== undefined && !seen.has(at.fingerprint256)) {
    seen.add(at.fingerprint256);
    chain.push(new Uint8Array(at.raw));
    at = at.issuerCertificate;
  }
  return chain;
}

/**
 * Why a chain proves nothing now; undefined when it does: each certificate is valid at this time and signed by the next,
 * and the last is an authority.
 */
export function whyUntrusted(
  chain: readonly Uint8Array[],
  authorities: readonly X509Certificate[],
  now: Date,
): string | undefined {
  const certificates = chain.map((der) => new X509Certificate(der));
  for (const [i, certificate] of certificates.entries()) {
    const name = JSON.stringify(certificate.subject);
    if (now < certificate.validFromDate || now > certificate.validToDate) return `certificate ${name} is not valid now`;
    const issuer = certificates[i + 1];
    if (issuer === undefined) continue;
    if (!issuer.ca || !certificate.checkIssued(issuer) || !certificate.verify(issuer.publicKey)) {
      return `certificate ${name} is not signed by ${JSON.stringify(issuer.subject)}`;
    }
  }
  const last = certificates.at(-1);
  const known = last !== undefined && authorities.some(({ fingerprint256 }) => fingerprint256 === last.fingerprint256);
  return known ? undefined : "the session began when other authorities were trusted";
}
