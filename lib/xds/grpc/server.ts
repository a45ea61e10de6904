/**
 * A thin gRPC server over `node:http2`: a table of handlers by path, for sockets that someone else accepts (plain or
 * TLS). It adds to http2 what gRPC asks for: framing, compression, deadlines, status, keepalive, maximum connection
 * age, graceful stop; and what a control plane needs: shared buffers without copies and back-pressure.
 *
 * Permissions: none by itself; {@linkcode GrpcServer.accept} is given connected sockets.
 *
 * @module
 */
import http2 from "node:http2";
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { Call, type CallHandler } from "./call.ts";
import { type CloseReason, Connection, type ConnectionLimits } from "./connection.ts";
import { Pacer, type PacerOptions } from "./pacer.ts";
import { Code, RpcError } from "./status.ts";

/** Settings of a {@linkcode GrpcServer}; times in milliseconds. */
export interface GrpcServerOptions extends Partial<ConnectionLimits> {
  /** Largest message taken from a client, in bytes. Default 4 MiB. */
  readonly maxMessageSize?: number;
  /** Calls a connection may have open at once. Default 100,000. */
  readonly maxConcurrentStreams?: number;
  /** Time in which a new connection must complete its HTTP/2 preface. Default 20,000. */
  readonly handshakeTimeout?: number;
  readonly pacer?: PacerOptions;
  /** Told when the server closes a connection by rule. */
  readonly onClosing?: (reason: CloseReason, connection: Connection) => void;
  /** Told of errors that are no RpcError: defects, not bad clients. */
  readonly onError?: (error: unknown, where: string) => void;
}

/** Handles one call: start it with {@linkcode Call.start} now or later, or end it. */
export type Method = (call: Call) => void;

/** A gRPC server without a listener of its own. */
export class GrpcServer {
  readonly pacer: Pacer;
  readonly #methods = new Map<string, Method>();
  readonly #connections = new Map<ServerHttp2Session, Connection>();
  readonly #sockets = new Map<Socket, ReturnType<typeof setTimeout>>();
  readonly #http2: http2.Http2Server;
  readonly #limits: ConnectionLimits;
  readonly #sweeper: ReturnType<typeof setInterval>;
  #stopping = false;

  constructor(private readonly options: GrpcServerOptions = {}) {
    this.pacer = new Pacer(options.pacer);
    this.#limits = {
      keepaliveInterval: options.keepaliveInterval ?? 30_000,
      keepaliveTimeout: options.keepaliveTimeout ?? 10_000,
      maxConnectionAge: options.maxConnectionAge ?? Infinity,
      maxConnectionAgeGrace: options.maxConnectionAgeGrace ?? 10_000,
    };
    this.#http2 = http2.createServer({
      settings: { maxConcurrentStreams: options.maxConcurrentStreams ?? 100_000 },
    });
    this.#http2.on("session", (session: ServerHttp2Session) => this.#open(session));
    this.#http2.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => this.#call(stream, headers));
    this.#http2.on("sessionError", () => {/* the session's own `close` follows */});
    const shortest = Math.min(
      this.#limits.keepaliveInterval,
      this.#limits.keepaliveTimeout,
      this.#limits.maxConnectionAge,
    );
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(1000, Math.max(10, shortest / 4)));
  }

  /** Registers the handler of a method, e.g. `/package.Service/Method`. */
  handle(path: string, method: Method): void {
    this.#methods.set(path, method);
  }

  /** Registers a method with one request and one response; an {@linkcode RpcError} thrown by `answer` is its status. */
  unary(path: string, answer: (request: Uint8Array, call: Call) => Uint8Array | Promise<Uint8Array>): void {
    this.handle(path, (call) => call.start(new UnaryHandler(call, answer)));
  }

  /** Takes over a connected socket that will speak HTTP/2. Bytes read from it before must be unshifted. */
  accept(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    if (this.#stopping) return void socket.destroy();
    socket.setNoDelay(true);
    const timer = setTimeout(() => socket.destroy(), this.options.handshakeTimeout ?? 20_000);
    this.#sockets.set(socket, timer);
    socket.once("close", () => {
      clearTimeout(timer);
      this.#sockets.delete(socket);
    });
    this.#pending = socket;
    this.#http2.emit("connection", socket);
    this.#pending = undefined;
  }

  /** The socket whose session is being made: http2 emits `session` while it handles `connection`. */
  #pending: Socket | undefined;

  /** Connections open now. */
  get connections(): Iterable<Connection> {
    return this.#connections.values();
  }

  /**
   * Stops: GOAWAY to all, calls end with UNAVAILABLE after the bytes they have sent, and what is left after `deadline`
   * milliseconds is broken off. Resolves when no connection is left.
   */
  async stop(deadline: number): Promise<void> {
    this.#stopping = true;
    for (const connection of this.#connections.values()) connection.finish("shutdown", "server is shutting down");
    const limit = performance.now() + deadline;
    while (this.#connections.size > 0 && performance.now() < limit) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    for (const connection of [...this.#connections.values()]) connection.destroy();
    for (const socket of [...this.#sockets.keys()]) socket.destroy();
    clearInterval(this.#sweeper);
    this.pacer.stop();
  }

  #open(session: ServerHttp2Session): void {
    const socket = this.#pending;
    if (socket === undefined) throw new Error("an http2 session appeared outside of accept()");
    const connection = new Connection(session, socket, this.pacer, this.#limits, (reason, closing) => {
      this.options.onClosing?.(reason, closing);
    });
    this.#connections.set(session, connection);
    session.on("error", () => connection.destroy());
    session.once("remoteSettings", () => clearTimeout(this.#sockets.get(socket)));
    const closed = () => {
      connection.lane.close();
      this.#connections.delete(session);
    };
    session.once("close", closed);
    socket.once("close", closed);
  }

  #call(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const connection = this.#connections.get(stream.session as ServerHttp2Session);
    if (connection === undefined) return void stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
    const refusal = httpRefusal(headers);
    if (refusal !== undefined) {
      stream.on("error", () => {});
      stream.respond({ ":status": refusal }, { endStream: true });
      return;
    }
    const peer = { address: connection.address, socket: connection.socket };
    const call = new Call(stream, headers, peer, connection.lane, {
      maxMessageSize: this.options.maxMessageSize ?? 4 * 1024 * 1024,
      onError: (error, at) => this.options.onError?.(error, String(at.headers[":path"])),
    });
    connection.calls.add(call);
    stream.once("close", () => connection.calls.delete(call));
    if (call.closed) return;
    const path = String(headers[":path"]);
    const method = this.#methods.get(path);
    if (method === undefined) return call.end(Code.UNIMPLEMENTED, `unknown method ${path}`);
    if (this.#stopping) return call.end(Code.UNAVAILABLE, "server is shutting down");
    try {
      method(call);
    } catch (error) {
      call.fail(error);
    }
  }

  #sweep(): void {
    const now = performance.now();
    for (const connection of [...this.#connections.values()]) connection.sweep(now);
  }
}

/** The HTTP status for a request that is no gRPC call. */
function httpRefusal(headers: IncomingHttpHeaders): number | undefined {
  if (headers[":method"] !== "POST") return 405;
  const type = headers["content-type"];
  if (type === undefined || !/^application\/grpc($|[+;])/.test(type)) return 415;
  return undefined;
}

/** Collects one request and sends one response. */
class UnaryHandler implements CallHandler {
  #request: Uint8Array | undefined;

  constructor(
    private readonly call: Call,
    private readonly answer: (request: Uint8Array, call: Call) => Uint8Array | Promise<Uint8Array>,
  ) {}

  message(bytes: Uint8Array): void {
    if (this.#request !== undefined) throw new RpcError(Code.INTERNAL, "a second request on a unary call");
    this.#request = bytes;
  }

  halfClose(): void {
    const request = this.#request;
    if (request === undefined) return this.call.end(Code.INTERNAL, "no request on a unary call");
    Promise.resolve().then(() => this.answer(request, this.call)).then((response) => {
      this.call.send([response], false);
      this.call.end();
    }, (error) => this.call.fail(error));
  }
}
