/**
 * Connections of clients: TCP in plain text or with TLS, and Unix sockets.
 *
 * Permissions: net (the address), or read and write (the socket file).
 *
 * @module
 */
import net from "node:net";
import tls from "node:tls";
import { suiteRefused } from "../../sockets/fetch/suite_refused.ts";
import { DEFAULT_TLS_POLICY, type TlsPolicy } from "../../sockets/listen/tls_policy.ts";
import { judgePeerChain, presentedChain, readableRoots } from "../../sockets/transport/peer_chain.ts";
import { SocketTransport } from "../../sockets/transport/socket.ts";
import type { Transport } from "../../sockets/transport/transport.ts";
import { UnixTransport } from "../../sockets/transport/unix.ts";

/** A server to connect to. */
export type DialTarget =
  | { readonly path: string }
  | { readonly host: string; readonly port: number; readonly tls?: DialTls };

/** The verification of the server, and the proof of our identity. */
export interface DialTls {
  /** The requested server name, and the expected name in the server's certificate. */
  readonly serverName: string;
  /** Allowed names in the server's certificate, instead of `serverName`. */
  readonly names?: readonly string[];
  /** Authorities of the server's certificate, as PEM; absent: the system's. */
  readonly roots?: string;
  /** Our own certificate chain and key, as PEM. */
  readonly identity?: { readonly chain: string; readonly key: string };
  /** Versions and cipher suites. Default {@linkcode DEFAULT_TLS_POLICY}. */
  readonly policy?: TlsPolicy;
}

/**
 * Connects.
 *
 * @param timeout milliseconds for the connection and the TLS handshake together
 * @throws Error with the target and the reason
 */
export async function dial(target: DialTarget, timeout: number): Promise<Transport> {
  if ("path" in target) {
    return new UnixTransport(await Deno.connect({ transport: "unix", path: target.path }), target.path);
  }
  const { host, port } = target;
  const { promise, resolve, reject } = Promise.withResolvers<Transport>();
  const socket = target.tls === undefined ? net.connect({ host, port }) : connectTls(host, port, target.tls);
  const fail = (error: Error) => {
    clearTimeout(timer);
    socket.destroy();
    reject(new Error(`${host}:${port}: ${error.message || String(error)}`, { cause: error }));
  };
  const timer = setTimeout(() => fail(new Error(`no connection within ${timeout / 1000} s`)), timeout);
  socket.once("error", fail);
  const closed = () => fail(new Error("the connection was closed"));
  socket.once("close", closed);
  socket.once(target.tls === undefined ? "connect" : "secureConnect", () => {
    clearTimeout(timer);
    const refused = target.tls === undefined ? undefined : whyRefused(socket as tls.TLSSocket, target.tls);
    if (refused !== undefined) return fail(new Error(refused));
    const protocol = target.tls === undefined ? "h2" : (socket as tls.TLSSocket).alpnProtocol;
    if (protocol !== "h2") return fail(new Error("the server does not speak HTTP/2 (ALPN h2)"));
    socket.removeListener("error", fail);
    socket.removeListener("close", closed);
    resolve(new SocketTransport(socket));
  });
  return await promise;
}

/** The reason to refuse a server that the runtime's TLS accepted; undefined: none. */
function whyRefused(socket: tls.TLSSocket, { policy = DEFAULT_TLS_POLICY, roots }: DialTls): string | undefined {
  const refused = suiteRefused(policy, socket);
  if (refused !== undefined || roots === undefined) return refused;
  const found = judgePeerChain(presentedChain(socket), {
    ...{ roots: readableRoots(roots), purpose: "server", now: Date.now() },
    signaturesProven: !socket.isSessionReused(),
  });
  return "reason" in found ? `the server's certificate: ${found.reason}` : undefined;
}

function connectTls(host: string, port: number, options: DialTls): tls.TLSSocket {
  const { serverName, roots, identity, policy: { minVersion, maxVersion } = DEFAULT_TLS_POLICY } = options;
  const { names = [serverName] } = options;
  return tls.connect({
    host,
    port,
    // An address is not a server name, but certificates are still checked against the address.
    ...(net.isIP(serverName) === 0 ? { servername: serverName } : {}),
    ALPNProtocols: ["h2"],
    ...{ minVersion, maxVersion },
    checkServerIdentity: (_name, certificate) => {
      const refusals = names.map((name) => tls.checkServerIdentity(name, certificate));
      return refusals.includes(undefined) ? undefined : refusals[0];
    },
    ...(roots === undefined ? {} : { ca: roots }),
    ...(identity === undefined ? {} : { cert: identity.chain, key: identity.key }),
  });
}
