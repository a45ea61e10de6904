/**
 * An agent's connections to the probed application.
 *
 * Permissions: net (the application).
 *
 * @module
 */
import net from "node:net";
import tls from "node:tls";
import { discard } from "../../sockets/transport/discard.ts";

/** The address of a probed application. */
export interface ProbeAddress {
  /** An IP address, or a name. */
  readonly host: string;
  readonly port: number;
  /** Source address of the connection. Absent: the system's choice. */
  readonly source?: string;
}

/**
 * Source address of probes, by the family of the application's address. Redirection passes connections from this
 * address on to the application, as in Istio. Otherwise the proxy would take a probe for a request to the proxy.
 */
export function probeSource(host: string): string | undefined {
  const family = net.isIP(host);
  return family === 4 ? "127.0.0.6" : family === 6 ? "::6" : undefined;
}

/** ALPN names; absent: plain text. Certificates are not verified, as kubelet does not. */
export type ProbeProtocols = readonly ("h2" | "http/1.1")[];

/**
 * Connects.
 * @param protocols Protocols of the TLS handshake. Undefined: plain text.
 * @throws {Error} With the address and the reason, or the signal's reason.
 */
export async function probeSocket(
  address: ProbeAddress,
  protocols: ProbeProtocols | undefined,
  signal: AbortSignal,
): Promise<net.Socket> {
  try {
    return await connect(address, protocols, signal);
  } catch (error) {
    // Where traffic is not redirected nobody has given the machine the address ::6.
    const { code } = (error as Error).cause as { code?: string } ?? {};
    if (code !== "EADDRNOTAVAIL" || address.source === undefined) throw error;
    return await connect({ host: address.host, port: address.port }, protocols, signal);
  }
}

function connect(
  { host, port, source }: ProbeAddress,
  protocols: ProbeProtocols | undefined,
  signal: AbortSignal,
): Promise<net.Socket> {
  const to = { host, port, ...(source === undefined ? {} : { localAddress: source }) };
  const socket = protocols === undefined
    ? net.connect(to)
    : tls.connect({ ...to, rejectUnauthorized: false, ALPNProtocols: [...protocols] });
  const { promise, resolve, reject } = Promise.withResolvers<net.Socket>();
  const end = (error: unknown) => {
    signal.removeEventListener("abort", aborted);
    socket.removeListener("error", failed).removeListener("close", closed);
    if (error === undefined) return resolve(socket);
    discard(socket);
    reject(error);
  };
  const aborted = () => end(signal.reason);
  const failed = (error: Error) => end(new Error(`${host}:${port}: ${error.message}`, { cause: error }));
  const closed = () => end(new Error(`${host}:${port}: the connection was closed`));
  socket.once("error", failed).once("close", closed);
  socket.once(protocols === undefined ? "connect" : "secureConnect", () => end(undefined));
  if (signal.aborted) aborted();
  else signal.addEventListener("abort", aborted);
  return promise;
}
