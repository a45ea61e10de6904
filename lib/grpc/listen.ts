/**
 * Listening sockets: gRPC alone, or gRPC and HTTP/1 on one port, told apart by the HTTP/2 preface.
 *
 * Permissions: net (the listen address).
 *
 * @module
 */
import net from "node:net";
import type { Socket } from "node:net";

/** Every HTTP/2 connection begins with these bytes (RFC 9113, section 3.4); no HTTP/1 request does. */
const PREFACE = new TextEncoder().encode("PRI * HTTP/2.0");

/** A parsed listen address; without host it is all addresses, IPv4 and IPv6. */
export interface ListenAddress {
  readonly host?: string;
  readonly port: number;
}

/** A listening socket. */
export interface Listener {
  /** The port in use (of interest when 0 was asked for). */
  readonly port: number;
  /** Stops taking connections; those that were taken live on. */
  close(): Promise<void>;
}

/**
 * Parses `host:port`, `:port` or `[v6]:port`.
 *
 * @throws TypeError on anything else
 */
export function parseListenAddress(text: string): ListenAddress {
  const match = /^(?:\[([^\]]+)\]|([^:\[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65535) {
    throw new TypeError(`listen address ${JSON.stringify(text)}: expected host:port or :port, port 0 to 65535`);
  }
  const host = match[1] ?? match[2];
  return host === undefined || host === "" ? { port } : { host, port };
}

/** Listens, and hands each connection to `accept`. */
export function listen(address: ListenAddress, accept: (socket: Socket) => void): Promise<Listener> {
  const server = net.createServer(accept);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(
      { port: address.port, ...(address.host === undefined ? {} : { host: address.host }), backlog: 4096 },
      () => {
        server.removeListener("error", reject);
        server.on("error", () => {/* a failed accept harms only that connection */});
        resolve({
          port: (server.address() as net.AddressInfo).port,
          close: () => new Promise((done) => server.close(() => done())),
        });
      },
    );
  });
}

/**
 * Splits connections by their first bytes.
 *
 * @param grpc takes connections that begin with the HTTP/2 preface
 * @param http1 takes all others
 * @param timeout milliseconds a connection may stay silent; default 10,000
 */
export function byPreface(
  grpc: (socket: Socket) => void,
  http1: (socket: Socket) => void,
  timeout = 10_000,
): (socket: Socket) => void {
  return (socket) => {
    let seen = new Uint8Array(0);
    const timer = setTimeout(() => socket.destroy(), timeout);
    const giveUp = () => {
      clearTimeout(timer);
      socket.destroy();
    };
    const look = (chunk: Uint8Array) => {
      const joined = new Uint8Array(seen.length + chunk.length);
      joined.set(seen);
      joined.set(chunk, seen.length);
      seen = joined;
      const length = Math.min(seen.length, PREFACE.length);
      const matches = PREFACE.subarray(0, length).every((byte, i) => byte === seen[i]);
      if (matches && seen.length < PREFACE.length) return;
      clearTimeout(timer);
      socket.removeListener("data", look);
      socket.removeListener("error", giveUp);
      socket.removeListener("close", giveUp);
      socket.pause();
      socket.unshift(seen);
      if (matches) return grpc(socket);
      http1(socket);
      // node:http listens for data, which does not start a socket that was paused by hand.
      socket.resume();
    };
    socket.on("data", look);
    socket.once("error", giveUp);
    socket.once("close", giveUp);
  };
}
