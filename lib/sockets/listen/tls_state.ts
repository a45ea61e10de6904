/**
 * The result of a finished TLS handshake.
 *
 * @module
 */
import type { TLSSocket } from "node:tls";
import type { Certificate } from "../../pki/certificate.ts";
import type { TlsState } from "../transport/peer.ts";
import { judgePeerChain, presentedChain } from "../transport/peer_chain.ts";

/**
 * Reads the state of a handshake from a socket that is still open; a closed one has forgotten it.
 *
 * The certificates of a resumed session are verified again with their signatures: Deno 2.8.3 resumes sessions that began
 * when other authorities were trusted, even those of another listener of the same process, and calls them authorized.
 *
 * @param authorities of client certificates, now
 */
export function tlsStateOf(socket: TLSSocket, authorities: readonly Certificate[]): TlsState {
  const found = provenChain(socket, authorities);
  const { servername } = socket as { servername?: string | false };
  return {
    protocol: socket.getProtocol() ?? "unknown",
    cipher: socket.getCipher().standardName,
    ...(servername ? { serverName: servername } : {}),
    verified: "chain" in found,
    ...("chain" in found ? {} : { unverifiedReason: found.reason }),
    chain: "chain" in found ? found.chain.map(({ der }) => der) : [],
  };
}

function provenChain(socket: TLSSocket, roots: readonly Certificate[]) {
  const presented = presentedChain(socket);
  if (presented.length === 0 || roots.length === 0) return { reason: "no certificate" };
  if (!socket.authorized) return { reason: String(socket.authorizationError) };
  const signaturesProven = !socket.isSessionReused();
  return judgePeerChain(presented, { roots, purpose: "client", signaturesProven, now: Date.now() });
}
