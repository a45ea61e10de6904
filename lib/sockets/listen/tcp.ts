/**
 * TCP listeners.
 *
 * Permissions: net (the listen address).
 *
 * @module
 */
import net, { type Socket } from "node:net";
import { forgetWhenClosed } from "../transport/discard.ts";

/** A parsed listen address; without a host: all addresses, IPv4 and IPv6. */
export interface ListenAddress {
  readonly host?: string;
  readonly port: number;
}

/** A listening TCP socket. */
export interface Listener {
  /** The port in use, of interest after a request for port 0. */
  readonly port: number;
  /** Stops taking connections. Open connections live on. */
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

/**
 * Listens, and hands each connection to `accept`.
 *
 * @throws Error when the address cannot be used
 */
export function listen(address: ListenAddress, accept: (socket: Socket) => void): Promise<Listener> {
  return startListening(net.createServer(accept), address);
}

/** Lets a server of `node:net` or `node:tls` listen. */
export function startListening(server: net.Server, { host, port }: ListenAddress): Promise<Listener> {
  server.on("connection", forgetWhenClosed);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, ...(host === undefined ? {} : { host }), backlog: 4096 }, () => {
      server.removeListener("error", reject);
      server.on("error", () => {/* a failed accept harms only a single connection */});
      resolve({
        port: (server.address() as net.AddressInfo).port,
        close: () => new Promise((done) => server.close(() => done())),
      });
    });
  });
}
