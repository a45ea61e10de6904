/**
 * TLS listeners. Certificates can be replaced while the server runs. Client certificates are requested but not
 * required: each connection carries the proof of the client ({@linkcode TlsState}), and the services decide about
 * requests without a certificate.
 *
 * Permissions: net (the listen address).
 *
 * @module
 */
import type { Socket } from "node:net";
import tls, { type TLSSocket } from "node:tls";
import type { Certificate } from "../../pki/certificate.ts";
import type { TlsState } from "../transport/peer.ts";
import { judgePeerChain, presentedChain } from "../transport/peer_chain.ts";
import { checkCertificates, type TlsCertificates } from "./certificates.ts";
import { Handshakes } from "./handshakes.ts";
import type { ConnectionPlaces } from "./places.ts";
import { type ListenAddress, type Listener, startListening } from "./tcp.ts";
import { DEFAULT_TLS_POLICY, type TlsPolicy } from "./tls_policy.ts";

/** How a TLS listener behaves. */
export interface TlsListenOptions {
  /** Protocols offered by ALPN, the preferred protocol first. Default: only `h2`. */
  readonly protocols?: readonly string[];
  /** Versions and cipher suites. Default {@linkcode DEFAULT_TLS_POLICY}. */
  readonly policy?: TlsPolicy;
  /** Longest time of a handshake, in milliseconds. Default 10,000. */
  readonly handshakeTimeout?: number;
  /** Places of the server. Each handshake in progress takes a place. Default: handshakes are not counted. */
  readonly places?: ConnectionPlaces;
  /** Called with a client's address when no place was free, or when another handshake got the place. */
  readonly onRefused?: (address: string) => void;
  /** Called with the reason when a handshake fails, and the client's address. */
  readonly onHandshakeError?: (error: Error, address: string) => void;
}

/** A TLS listener with replaceable certificates. */
export interface TlsListener extends Listener {
  /**
   * Replaces the certificates for later handshakes. Open connections are not affected.
   *
   * @throws TypeError when the certificates cannot be used; the earlier certificates stay in force
   */
  replace(certificates: TlsCertificates): void;
}

/**
 * Listens for TLS, and hands each connection to `accept` after the handshake.
 *
 * @throws TypeError when the certificates cannot be used, Error when the address cannot be used
 */
export async function listenTls(
  address: ListenAddress,
  certificates: TlsCertificates,
  accept: (socket: Socket, tls: TlsState) => void,
  options: TlsListenOptions = {},
): Promise<TlsListener> {
  let authorities = checkCertificates(certificates);
  const policy = options.policy ?? DEFAULT_TLS_POLICY;
  const { cipherSuites } = policy;
  const timeout = options.handshakeTimeout ?? 10_000;
  const handshakes = new Handshakes(timeout, options.places, {
    late: (address) =>
      options.onHandshakeError?.(new Error(`TLS handshake not done within ${timeout / 1000} s`), address),
    refused: (address) => options.onRefused?.(address),
  });
  const server = tls.createServer({
    ...secureContext(certificates, policy),
    // Clients are always asked for a certificate: this choice is fixed when the server is made.
    requestCert: true,
    rejectUnauthorized: false,
    ALPNProtocols: [...options.protocols ?? ["h2"]],
    // The runtime's limit on silence. Our own time limit (`Handshakes`) is shorter, and comes first.
    handshakeTimeout: 2 * timeout,
  }, (socket: TLSSocket) => {
    handshakes.end(socket);
    if (socket.destroyed) return;
    const state = tlsStateOf(socket, authorities);
    if (cipherSuites === undefined || cipherSuites.has(state.cipher)) return accept(socket, state);
    options.onHandshakeError?.(new Error(`${state.cipher} is the first suite of both, and not allowed`), where(socket));
    socket.destroy();
  });
  server.on("connection", (socket: Socket) => handshakes.begin(socket));
  server.on("tlsClientError", (error: Error, socket: Socket) => {
    options.onHandshakeError?.(error, where(socket));
    handshakes.end(socket);
    socket.destroy();
  });
  const listener = await startListening(server, address);
  return {
    ...listener,
    close() {
      const closed = listener.close();
      handshakes.stop();
      return closed;
    },
    replace(next) {
      authorities = checkCertificates(next);
      server.setSecureContext(secureContext(next, policy));
    },
  };
}

function where({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? "?"}:${remotePort ?? "?"}`;
}

function secureContext(certificates: TlsCertificates, policy: TlsPolicy): tls.SecureContextOptions {
  const { certificate, privateKey, clientAuthorities } = certificates;
  const { minVersion, maxVersion } = policy;
  return { cert: certificate, key: privateKey, ca: clientAuthorities ?? [], minVersion, maxVersion };
}

/**
 * Reads the result of a handshake from an open socket; a closed socket has lost the result.
 *
 * The certificates of a resumed session are verified again, with their signatures. Deno 2.8.3 resumes sessions from a
 * time when other authorities were trusted, and even sessions with another listener of the same process, and calls both
 * authorized.
 *
 * @param authorities of client certificates, now
 */
function tlsStateOf(socket: TLSSocket, authorities: readonly Certificate[]): TlsState {
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
