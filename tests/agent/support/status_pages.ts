/**
 * Pages of the status port on a separate port, and applications that answer with bytes.
 *
 * Permissions: net (loopback).
 * @module
 */
import net from "node:net";
import { once } from "node:events";
import { HttpServer } from "../../../lib/http/server.ts";
import type { Route } from "../../../lib/http/route.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";

/** An open port. */
export interface OpenPort extends AsyncDisposable {
  readonly port: number;
}

/** Serves routes. */
export async function servePages(routes: readonly Route[]): Promise<OpenPort> {
  const server = new HttpServer({ routes, log: silentLog().scope("test") });
  const { port } = await server.listen("127.0.0.1:0");
  return { port, [Symbol.asyncDispose]: () => server.close(0) };
}

/** An application whose connections the test handles; `hosts` are the addresses of the clients. */
export async function application(
  connected: (socket: net.Socket) => void,
): Promise<OpenPort & { readonly hosts: string[] }> {
  const sockets = new Set<net.Socket>();
  const hosts: string[] = [];
  const server = net.createServer((socket) => {
    sockets.add(socket);
    hosts.push(socket.remoteAddress ?? "");
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
    connected(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  return {
    port,
    hosts,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await Promise.resolve();
    },
  };
}

/** An application with the same answer to each request. Keeps the requests. */
export async function answering(bytes: string): Promise<OpenPort & { readonly hosts: string[]; requests: string[] }> {
  const requests: string[] = [];
  const app = await application((socket) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (!text.endsWith("\r\n\r\n")) return;
      requests.push(text);
      text = "";
      socket.write(bytes);
    });
  });
  return { ...app, requests };
}
