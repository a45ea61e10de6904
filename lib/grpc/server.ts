/**
 * A thin gRPC server: a table of handlers by path, for sockets that someone else accepts (plain or TLS). On top of
 * HTTP/2 it does what gRPC asks for: framing, compression, deadlines, status, keepalive, maximum connection age,
 * graceful stop; and what a control plane needs: shared buffers without copies, and back-pressure.
 *
 * @module
 */
import type { Socket } from "node:net";
import type { Headers } from "./h2/hpack.ts";
import { SendBudget } from "./h2/outbound.ts";
import type { H2Stream } from "./h2/stream.ts";
import { Call } from "./call.ts";
import { type CloseReason, Connection, type ConnectionLimits } from "./connection.ts";
import { Code } from "./status.ts";
import { UnaryHandler } from "./unary.ts";

/** Settings of a {@linkcode GrpcServer}; times in milliseconds. */
export interface GrpcServerOptions extends Partial<ConnectionLimits> {
  /** Largest message taken from a client, in bytes. Default 4 MiB. */
  readonly maxMessageSize?: number;
  /** Calls a connection may have open at once. Default 100,000. */
  readonly maxConcurrentStreams?: number;
  /** Bytes a connection may have handed to its socket. Default 256 KiB. */
  readonly sendBuffer?: number;
  /** The same over all connections; above it the shares shrink. Default 128 MiB. */
  readonly totalSendBuffer?: number;
  /** Told when the server closes a connection by rule. */
  readonly onClosing?: (reason: CloseReason, connection: Connection) => void;
  /** Told of errors that are no RpcError: defects, not bad clients. */
  readonly onError?: (error: unknown, where: string) => void;
}

/** Handles one call: start it with {@linkcode Call.start} now or later, or end it. */
export type Method = (call: Call) => void;

/** A gRPC server without a listener of its own. */
export class GrpcServer {
  /** What all connections together have handed to their sockets. */
  readonly budget: SendBudget;
  readonly #methods = new Map<string, Method>();
  readonly #connections = new Set<Connection>();
  readonly #limits: ConnectionLimits;
  readonly #sweeper: ReturnType<typeof setInterval>;
  #stopping = false;
  #onEmpty: (() => void) | undefined;

  constructor(private readonly options: GrpcServerOptions = {}) {
    this.budget = new SendBudget(options.sendBuffer, options.totalSendBuffer);
    this.#limits = {
      handshakeTimeout: options.handshakeTimeout ?? 60_000,
      keepaliveInterval: options.keepaliveInterval ?? 30_000,
      keepaliveTimeout: options.keepaliveTimeout ?? 10_000,
      maxConnectionAge: options.maxConnectionAge ?? Infinity,
      maxConnectionAgeGrace: options.maxConnectionAgeGrace ?? 10_000,
      stallTimeout: options.stallTimeout ?? 60_000,
    };
    const shortest = Math.min(...Object.values(this.#limits));
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(1000, Math.max(10, shortest / 4)));
  }

  /** Registers the handler of a method, e.g. `/package.Service/Method`. */
  handle(path: string, method: Method): void {
    this.#methods.set(path, method);
  }

  /** Registers a method with one request and one response; an RpcError thrown by `answer` is its status. */
  unary(path: string, answer: (request: Uint8Array, call: Call) => Uint8Array | Promise<Uint8Array>): void {
    this.handle(path, (call) => call.start(new UnaryHandler(call, answer)));
  }

  /** Takes over a connected socket that will speak HTTP/2. Bytes read from it before must be unshifted. */
  accept(socket: Socket): void {
    if (this.#stopping || socket.destroyed) return void socket.destroy();
    socket.setNoDelay(true);
    const limits = { maxConcurrentStreams: this.options.maxConcurrentStreams ?? 100_000 };
    const connection = new Connection(socket, this.budget, limits, this.#limits, {
      call: (stream, at) => this.#call(stream, at),
      closing: (reason, closing) => this.options.onClosing?.(reason, closing),
      close: (closed) => {
        this.#connections.delete(closed);
        if (this.#connections.size === 0) this.#onEmpty?.();
      },
    });
    this.#connections.add(connection);
  }

  /** Connections open now. */
  get connections(): Iterable<Connection> {
    return this.#connections;
  }

  /**
   * Stops: GOAWAY to all, calls end with UNAVAILABLE after the bytes they have sent, and what is left after `deadline`
   * milliseconds is broken off. Resolves when no connection is left.
   */
  async stop(deadline: number): Promise<void> {
    this.#stopping = true;
    const { promise: empty, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    for (const connection of [...this.#connections]) connection.finish("shutdown", "server is shutting down");
    const timer = setTimeout(() => {
      for (const connection of [...this.#connections]) connection.destroy();
    }, Math.min(deadline, 2 ** 31 - 1));
    if (this.#connections.size > 0) await empty;
    clearTimeout(timer);
    clearInterval(this.#sweeper);
  }

  #call(stream: H2Stream, connection: Connection): void {
    const refusal = httpRefusal(stream.headers);
    if (refusal !== undefined) return stream.respond({ ":status": refusal }, true);
    const peer = { address: connection.address, socket: connection.socket };
    const call = new Call(stream, peer, {
      maxMessageSize: this.options.maxMessageSize ?? 4 * 1024 * 1024,
      onError: (error, at) => this.options.onError?.(error, at.headers[":path"]!),
      onClose: (closed) => connection.calls.delete(closed),
    });
    if (call.closed) return;
    connection.calls.add(call);
    const path = stream.headers[":path"]!;
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
    for (const connection of [...this.#connections]) connection.sweep(now);
  }
}

/** The HTTP status for a request that is no gRPC call. */
function httpRefusal(headers: Headers): string | undefined {
  if (headers[":method"] !== "POST") return "405";
  const type = headers["content-type"];
  if (type === undefined || !/^application\/grpc($|[+;])/.test(type)) return "415";
  return undefined;
}
