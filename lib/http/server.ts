/**
 * The HTTP server of all programs: routes as data, limits for every client, listeners on TCP, TLS and Unix sockets, and
 * connections from other listeners (a port shared with gRPC).
 *
 * The parser is `node:http`: it takes any stream, and limits and checks heads. `Deno.serve` has no time limits and
 * cannot take connections from other listeners (docs/decisions/0023).
 *
 * Permissions: net (the listen addresses), read and write (paths of Unix sockets).
 *
 * @module
 */
import { Buffer } from "node:buffer";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { Logger } from "../kernel/log/log.ts";
import { PacedLines } from "../kernel/log/paced_lines.ts";
import { type Clock, systemClock } from "../kernel/time/clock.ts";
import type { TlsCertificates } from "../sockets/listen/certificates.ts";
import { listen, type Listener, parseListenAddress } from "../sockets/listen/tcp.ts";
import { listenTls, type TlsListener, type TlsListenOptions } from "../sockets/listen/tls.ts";
import { listenUnix, type UnixListener, type UnixListenOptions } from "../sockets/listen/unix.ts";
import type { Peer, TlsState } from "../sockets/transport/peer.ts";
import type { Transport } from "../sockets/transport/transport.ts";
import { HttpConnection } from "./connection.ts";
import { readBody, requestHead, sendResponse } from "./exchange.ts";
import { HeldBodies } from "./held_bodies.ts";
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from "./limits.ts";
import { type HttpResponse, type RequestHead, textResponse } from "./message.ts";
import { DEFAULT_MAX_BODY, refusalOf, type Route } from "./route.ts";
import { type LoadRoutes, Router } from "./router.ts";

/**
 * A transport as a stream of Node, for the HTTP/1 parser of `node:http`. A slow reader of the stream slows the
 * transport down. A slow transport slows the stream's writer down.
 */
class TransportStream extends Duplex {
  readonly #transport: Transport;
  #started = false;

  constructor(transport: Transport) {
    super({ allowHalfOpen: true });
    this.#transport = transport;
  }

  override _read(): void {
    if (this.#started) return this.#transport.resume();
    this.#started = true;
    this.#transport.start({
      data: (bytes) => {
        if (!this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))) this.#transport.pause();
      },
      close: () => void (this.readableEnded || this.push(null)),
    });
  }

  override _write(bytes: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    this.#transport.write(bytes, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#transport.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#transport.destroy();
    done(error);
  }
}

/** How a server is made. */
export interface HttpServerOptions {
  readonly routes: readonly Route[];
  /** Loads further routes, at the first request for a path that `routes` lack. Default: no further routes. */
  readonly later?: LoadRoutes;
  /** Takes a line for each route that threw. */
  readonly log: Logger;
  readonly limits?: Partial<HttpLimits>;
  readonly clock?: Clock;
}

interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The client waits for `100 Continue` before sending the body. */
  readonly awaitsContinue: boolean;
  readonly connection: HttpConnection;
  readonly signal: AbortSignal;
}

/**
 * Time for unfinished responses when a server closes, in milliseconds, unless {@linkcode HttpServer.close} says
 * otherwise.
 */
const DEFAULT_CLOSE_TIME = 2000;

/** Most log lines a second about requests that failed by a fault of this server. */
const MOST_DEFECTS = 10;

export class HttpServer {
  readonly #router: Router;
  readonly #log: Logger;
  readonly #limits: HttpLimits;
  readonly #clock: Clock;
  readonly #defects: PacedLines;
  readonly #parser: http.Server;
  readonly #bodies: HeldBodies;
  readonly #listeners: { close(): Promise<void> }[] = [];
  /** Open connections. The connection that has waited longest for its client comes first. */
  readonly #connections = new Map<Duplex, HttpConnection>();
  #closing = false;
  #onEmpty: (() => void) | undefined;

  constructor({ routes, later, log, limits, clock }: HttpServerOptions) {
    this.#router = new Router(routes, later);
    this.#log = log;
    this.#limits = { ...DEFAULT_HTTP_LIMITS, ...limits };
    this.#clock = clock ?? systemClock;
    this.#defects = new PacedLines(this.#clock, MOST_DEFECTS);
    this.#bodies = new HeldBodies(this.#limits.bodyBytes);
    this.#parser = http.createServer({ maxHeaderSize: this.#limits.headBytes, keepAliveTimeout: 0 });
    // Without this, a server that does not listen closes each connection after the first response.
    Object.defineProperty(this.#parser, "listening", { get: () => !this.#closing });
    this.#parser.on("request", (request, response) => this.#received(request, response, false));
    this.#parser.on("checkContinue", (request, response) => this.#received(request, response, true));
    this.#parser.on("clientError", refuseBytes);
  }

  /**
   * Listens on `host:port`, `:port` (all addresses) or `[v6]:port`.
   *
   * @throws TypeError for another text, Error when the address cannot be used
   */
  async listen(address: string): Promise<Listener> {
    const listener = await listen(parseListenAddress(address), (socket) => this.accept(socket));
    this.#listeners.push(listener);
    return listener;
  }

  /**
   * Listens for TLS; see {@linkcode listenTls}.
   *
   * @throws TypeError when address or certificates make no sense, Error when the address cannot be used
   */
  async listenTls(
    address: string,
    certificates: TlsCertificates,
    options: Omit<TlsListenOptions, "protocols"> = {},
  ): Promise<TlsListener> {
    const accept = (socket: Socket, tls: TlsState) => this.accept(socket, tls);
    const listener = await listenTls(parseListenAddress(address), certificates, accept, {
      ...options,
      protocols: ["http/1.1"],
    });
    this.#listeners.push(listener);
    return listener;
  }

  /**
   * Listens on a Unix socket; see {@linkcode listenUnix}.
   *
   * @throws Error when the path cannot be used
   */
  async listenUnix(path: string, options: UnixListenOptions = {}): Promise<UnixListener> {
    const listener = await listenUnix(path, (transport) => {
      this.#take(new TransportStream(transport), transport.peer);
    }, options);
    this.#listeners.push(listener);
    return listener;
  }

  /** Takes a connection from another listener. Bytes that were read before must have been unshifted. */
  accept(socket: Socket, tls?: TlsState): void {
    const address = `${socket.remoteAddress ?? "?"}:${socket.remotePort ?? "?"}`;
    this.#take(socket, tls === undefined ? { address } : { address, tls });
  }

  /**
   * Stops listening, and closes idle connections. Responses under way may end within `time` milliseconds. After that
   * the remaining connections are broken off.
   *
   * @returns when no connection is left
   */
  async close(time: number = DEFAULT_CLOSE_TIME): Promise<void> {
    const closed = this.#listeners.splice(0).map((listener) => listener.close());
    this.#closing = true;
    const { promise: empty, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    const late = this.#clock.after(time, () => {
      for (const { stream } of [...this.#connections.values()]) stream.destroy();
    });
    for (const connection of [...this.#connections.values()]) {
      if (connection.pending === 0) connection.stream.destroy();
      else connection.abort("the server closes");
    }
    if (this.#connections.size > 0) await empty;
    late();
    await Promise.all(closed);
  }

  #take(stream: Duplex, peer: Peer): void {
    stream.on("error", () => {/* resets by the client end the connection anyway */});
    if (this.#closing || !this.#makeRoom()) return void stream.destroy();
    const touch = (connection: HttpConnection) => {
      this.#connections.delete(stream);
      this.#connections.set(stream, connection);
    };
    const connection = new HttpConnection(stream, peer, this.#limits, this.#clock, touch);
    stream.once("close", () => {
      connection.closed();
      this.#connections.delete(stream);
      if (this.#connections.size === 0) this.#onEmpty?.();
    });
    this.#parser.emit("connection", stream);
  }

  /** At the limit, closes the connection that has waited longest; false: all connections are at work. */
  #makeRoom(): boolean {
    if (this.#connections.size < this.#limits.connections) return true;
    const oldest = this.#connections.values().find(({ waits }) => waits);
    if (oldest === undefined) return false;
    this.#connections.delete(oldest.stream);
    oldest.stream.destroy();
    return true;
  }

  #received(request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void {
    for (const message of [request, response]) message.on("error", () => {/* the connection ends anyway */});
    const connection = this.#connections.get(request.socket);
    if (connection === undefined || connection.pending >= this.#limits.pipelined) return void request.socket.destroy();
    connection.enqueue((signal) => this.#exchange({ request, response, awaitsContinue, connection, signal }));
  }

  async #exchange(exchange: HttpExchange): Promise<void> {
    const { request, response, connection } = exchange;
    try {
      const found = await this.#answer(exchange);
      const close = !request.complete || this.#closing;
      await sendResponse(response, found, { isHead: request.method === "HEAD", close }, connection);
      if (close) connection.stream.end(() => connection.stream.destroy());
    } catch (error) {
      // The client is gone, or this server is at fault. In both cases the connection cannot carry another message.
      const path = request.url?.slice(0, 200);
      if (!connection.stream.destroyed) this.#defect("a response could not be sent", { path, error });
      connection.stream.destroy();
    }
  }

  /** @throws when the client goes away before the body has come */
  async #answer({ request, response, awaitsContinue, connection, signal }: HttpExchange): Promise<HttpResponse> {
    const head = requestHead(request, connection.peer);
    if ("status" in head) return head;
    const found = await this.#router.find(head).catch((error) => this.#failed(head, error));
    const refused = "status" in found ? found : await refusalOf(found.route, head);
    const max = "route" in found && refused === undefined ? found.route.maxBody ?? DEFAULT_MAX_BODY : 0;
    // A client that waits for `100 Continue` does not send a refused body.
    if (awaitsContinue && refused !== undefined) return refused;
    if (awaitsContinue && Number(request.headers["content-length"] ?? 0) > max) return tooLong(max);
    if (awaitsContinue) response.writeContinue();
    const body = await this.#body(request, max, connection);
    connection.bodyRead();
    if (refused !== undefined) return refused;
    if (body === undefined || !("route" in found)) return tooLong(max);
    try {
      return await found.route.handle({ ...head, params: found.params, body, signal });
    } catch (error) {
      return this.#failed(head, error);
    }
  }

  /** @throws when the client goes away, or when the body is given up in favour of other bodies */
  async #body(request: IncomingMessage, max: number, connection: HttpConnection): Promise<Uint8Array | undefined> {
    const held = this.#bodies.begin(() => connection.stream.destroy());
    try {
      return await readBody(request, max, held);
    } finally {
      held.release();
    }
  }

  #failed({ method, path }: RequestHead, error: unknown): HttpResponse {
    this.#defect("a page failed", { method, path: path.slice(0, 200), error });
    return textResponse(500, "internal error\n");
  }

  /** Clients can repeat a request without limit, so that not every failure is a line. */
  #defect(message: string, fields: Readonly<Record<string, unknown>>): void {
    const unsaid = this.#defects.next();
    if (unsaid !== undefined) this.#log.error(message, { ...fields, ...unsaid });
  }
}

function tooLong(max: number): HttpResponse {
  return textResponse(413, `body: expected at most ${max} bytes\n`);
}

/** Answers bytes that are not a request with the reason, and closes. */
function refuseBytes(error: Error & { readonly code?: string }, stream: Duplex): void {
  if (!stream.writable || error.code === "ECONNRESET") return void stream.destroy();
  const [status, text] = error.code === "HPE_HEADER_OVERFLOW"
    ? ["431 Request Header Fields Too Large", "the request head is too long\n"]
    : ["400 Bad Request", "this is not an HTTP/1 request\n"];
  const head = `content-type: text/plain; charset=utf-8\r\ncontent-length: ${text.length}\r\nconnection: close`;
  stream.end(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${text}`, () => stream.destroy());
}
