/**
 * A gRPC server: services on transports from listeners (TCP, TLS, Unix sockets). On top of HTTP/2 it does framing,
 * compression, deadlines, status, keepalive, maximum connection age and graceful stop. Shared buffers are sent without
 * copies, and bytes that a slow client does not take are held back.
 *
 * @module
 */
import type { HttpHeaders } from "./h2/headers.ts";
import { ErrorCode } from "./h2/constants.ts";
import { SendBudget } from "./h2/outbound.ts";
import type { H2Stream } from "./h2/stream.ts";
import { Call } from "./call.ts";
import { type CloseReason, Connection, type ConnectionLimits } from "./connection.ts";
import { Code } from "./codes.ts";
import { HeldBytes, HeldInAll } from "./budget/held.ts";
import type { GrpcMethod, GrpcService } from "./service.ts";
import { ConnectionPlaces } from "../sockets/listen/places.ts";
import { RemoteTime } from "../sockets/patience.ts";
import type { Transport } from "../sockets/transport/transport.ts";
import { Turns } from "./budget/turns.ts";

/** Bytes of a client's largest message, by default. */
export const DEFAULT_MESSAGE = 4 * 1024 * 1024;

/** Settings of a {@linkcode GrpcServer}; times in milliseconds. */
export interface GrpcServerOptions extends Partial<ConnectionLimits> {
  /** Largest message taken from a client, in bytes. Default 4 MiB. */
  readonly maxMessageSize?: number;
  /** Calls a connection may have open at once. Default 100,000. */
  readonly maxConcurrentStreams?: number;
  /** Most open connections. A further connection is closed at once. Default 10,000. */
  readonly maxConnections?: number;
  /**
   * Places of connections, shared with listeners whose handshakes take places, too. Default: `maxConnections` places
   * for this server alone.
   */
  readonly places?: ConnectionPlaces;
  /** The held bytes of incomplete messages. Default: 16 MiB a connection, 256 MiB in all. */
  readonly held?: HeldInAll;
  /**
   * The turns in which received input is worked off. Servers of a process may share the turns. Default: turns of this
   * server.
   */
  readonly turns?: Turns;
  /** The clock for clients' time limits. Default: the time of the event loop. */
  readonly time?: RemoteTime;
  /** Most bytes of a connection in its socket. Default 256 KiB. */
  readonly sendBuffer?: number;
  /** Most bytes of all connections in their sockets. Above the limit the shares shrink. Default 128 MiB. */
  readonly totalSendBuffer?: number;
  /** Called when the server closes a connection by rule. */
  readonly onClosing?: (reason: CloseReason, connection: Connection) => void;
  /** Called with the address of a client for which no place was free. */
  readonly onRefused?: (address: string) => void;
  /** Called with errors other than RpcError: defects, not bad clients. */
  readonly onError?: (error: unknown, where: string) => void;
}

/** A gRPC server without a listener. */
export class GrpcServer {
  /** The bytes that all connections together have handed to their sockets. */
  readonly budget: SendBudget;
  /** The held bytes of incomplete messages. */
  readonly held: HeldInAll;
  readonly places: ConnectionPlaces;
  readonly #turns: Turns;
  readonly #time: RemoteTime;
  readonly #methods = new Map<string, GrpcMethod>();
  readonly #connections = new Set<Connection>();
  readonly #limits: ConnectionLimits;
  readonly #sweeper: ReturnType<typeof setInterval>;
  #stopping = false;
  #onEmpty: (() => void) | undefined;

  readonly #options: GrpcServerOptions;

  /**
   * @param services the services; {@linkcode withReflection} adds descriptions
   * @throws TypeError for a repeated method
   */
  constructor(services: readonly GrpcService[], options: GrpcServerOptions = {}) {
    this.#options = options;
    for (const { name, methods } of services) {
      for (const method of methods) this.#add(`/${name}/${method.name}`, method);
    }
    this.budget = new SendBudget(options.sendBuffer, options.totalSendBuffer);
    this.places = options.places ?? new ConnectionPlaces(options.maxConnections);
    this.held = options.held ?? new HeldInAll();
    this.#turns = options.turns ?? new Turns();
    this.#limits = {
      handshakeTimeout: options.handshakeTimeout ?? 60_000,
      frameTimeout: options.frameTimeout ?? 10_000,
      firstMessageTimeout: options.firstMessageTimeout ?? 10_000,
      keepaliveInterval: options.keepaliveInterval ?? 30_000,
      keepaliveTimeout: options.keepaliveTimeout ?? 10_000,
      maxConnectionAge: options.maxConnectionAge ?? Infinity,
      maxConnectionAgeGrace: options.maxConnectionAgeGrace ?? 10_000,
      stallTimeout: options.stallTimeout ?? 60_000,
    };
    const shortest = Math.min(...Object.values(this.#limits));
    const interval = Math.min(1000, Math.max(10, shortest / 4));
    this.#time = options.time ?? new RemoteTime(2 * interval);
    this.#sweeper = setInterval(() => this.sweep(), interval);
  }

  #add(path: string, method: GrpcMethod): void {
    if (this.#methods.has(path)) throw new TypeError(`services: method ${path} is there twice`);
    this.#methods.set(path, method);
  }

  /** Takes over the transport of an HTTP/2 client. */
  accept(transport: Transport): void {
    if (this.#stopping || transport.destroyed) return transport.destroy();
    if (!this.places.take()) {
      this.#options.onRefused?.(transport.peer.address);
      return transport.destroy();
    }
    const limits = {
      maxConcurrentStreams: this.#options.maxConcurrentStreams ?? 100_000,
      held: new HeldBytes(this.held),
      turns: this.#turns,
      time: this.#time,
    };
    const connection = new Connection(transport, this.budget, limits, this.#limits, {
      call: (stream, at) => this.#call(stream, at),
      closing: (reason, closing) => this.#options.onClosing?.(reason, closing),
      close: (closed) => {
        this.#connections.delete(closed);
        this.places.leave();
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
   * Stops. All clients get GOAWAY, and calls end with UNAVAILABLE after the bytes already sent. After `deadline`
   * milliseconds the remaining calls are broken off. Resolves when no connection is left.
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
    // The client may try again at once: nothing was done for the call.
    if (!connection.mayWait) return stream.reset(ErrorCode.REFUSED_STREAM);
    const refusal = httpRefusal(stream.headers);
    if (refusal !== undefined) return connection.refuse(stream, refusal, "expected a gRPC call\n");
    const path = stream.headers[":path"]!;
    const method = this.#methods.get(path);
    const usual = this.#options.maxMessageSize ?? DEFAULT_MESSAGE;
    const call = new Call(stream, connection.transport.peer, {
      maxMessageSize: Math.max(usual, method?.maxMessageSize ?? 0),
      held: connection.held,
      time: this.#time,
      onFirstMessage: (begun) => connection.begun(begun),
      onError: (error, at) => this.#options.onError?.(error, at.headers[":path"]!),
      onClose: (closed) => connection.closed(closed),
    });
    if (call.closed) return;
    connection.opened(call);
    if (method === undefined) return call.end(Code.UNIMPLEMENTED, `unknown method ${path}`);
    if (this.#stopping) return call.end(Code.UNAVAILABLE, "server is shutting down");
    try {
      method.handle(call);
    } catch (error) {
      call.fail(error);
    }
  }

  /** Applies all time limits. The server's own timer calls this about once a second. */
  sweep(): void {
    if (!this.#time.tick()) return;
    for (const connection of [...this.#connections]) connection.sweep();
    this.held.sweep();
  }
}

/** The HTTP status for a request that is not a gRPC call. */
function httpRefusal(headers: HttpHeaders): string | undefined {
  if (headers[":method"] !== "POST") return "405";
  const type = headers["content-type"];
  if (type === undefined || !/^application\/grpc($|[+;])/.test(type)) return "415";
  return undefined;
}
