/**
 * One connection of a gRPC server: its calls, keepalive, age, stalls and end.
 *
 * @module
 */
import { H2Connection, type H2Limits } from "./h2/connection.ts";
import type { Transport } from "../sockets/transport/transport.ts";
import type { SendBudget } from "./h2/outbound.ts";
import type { H2Stream } from "./h2/stream.ts";
import type { Call } from "./call.ts";
import { Code } from "./codes.ts";

/** Limits of a connection, in milliseconds. */
export interface ConnectionLimits {
  /** Time in which a new connection must show that it speaks HTTP/2. */
  readonly handshakeTimeout: number;
  /** Silence of the peer after which it is pinged. */
  readonly keepaliveInterval: number;
  /** Wait for the answer to a ping (or any other bytes) before the connection is closed. */
  readonly keepaliveTimeout: number;
  /** Age at which the client is asked to reconnect (GOAWAY). */
  readonly maxConnectionAge: number;
  /** Time from that GOAWAY until the calls still open are ended. */
  readonly maxConnectionAgeGrace: number;
  /** Time without progress while data wait for the peer, after which it is given up. */
  readonly stallTimeout: number;
}

/** Why a connection was closed by the server. */
export type CloseReason = "handshake" | "keepalive" | "stall" | "age" | "shutdown";

/** What a connection tells its server. */
export interface ConnectionEvents {
  call(stream: H2Stream, connection: Connection): void;
  closing(reason: CloseReason, connection: Connection): void;
  close(connection: Connection): void;
}

/** A connection. `sweep` must be called about once a second. */
export class Connection {
  readonly calls = new Set<Call>();
  readonly h2: H2Connection;
  readonly #openedAt = performance.now();
  readonly #retireAt: number;
  #bytesRead = 0;
  #lastHeard = this.#openedAt;
  #pingedAt: number | undefined;
  #goneAwayAt: number | undefined;

  constructor(
    readonly transport: Transport,
    budget: SendBudget,
    h2: H2Limits,
    private readonly limits: ConnectionLimits,
    private readonly events: ConnectionEvents,
  ) {
    // A tenth of jitter, so that clients that came together do not come back together.
    this.#retireAt = this.#openedAt + limits.maxConnectionAge * (0.9 + 0.2 * Math.random());
    this.h2 = new H2Connection(transport, budget, h2, {
      stream: (stream) => events.call(stream, this),
      close: () => events.close(this),
    });
  }

  /** `address:port` of the remote end, or the path of its Unix socket. */
  get address(): string {
    return this.transport.peer.address;
  }

  /** Applies all limits of time. */
  sweep(now: number): void {
    const { limits } = this;
    if (!this.h2.started && now - this.#openedAt >= limits.handshakeTimeout) return this.destroy("handshake");
    if (this.h2.outbound.busy && now - this.h2.outbound.lastProgress >= limits.stallTimeout) {
      return this.destroy("stall");
    }
    if (this.transport.bytesRead !== this.#bytesRead) {
      this.#bytesRead = this.transport.bytesRead;
      this.#lastHeard = now;
      this.#pingedAt = undefined;
    }
    if (this.#pingedAt !== undefined) {
      if (now - this.#pingedAt >= limits.keepaliveTimeout) return this.destroy("keepalive");
    } else if (now - this.#lastHeard >= limits.keepaliveInterval) {
      this.#pingedAt = now;
      this.h2.ping();
    }
    if (this.#goneAwayAt === undefined && now >= this.#retireAt) this.goAway(now);
    else if (this.#goneAwayAt !== undefined && now - this.#goneAwayAt >= limits.maxConnectionAgeGrace) {
      this.finish("age", "maximum connection age reached");
    }
  }

  /** Tells the client to open no more calls here. */
  goAway(now = performance.now()): void {
    this.#goneAwayAt ??= now;
    this.h2.goAway();
  }

  /** Ends all calls with UNAVAILABLE, after what they have sent, and closes. */
  finish(reason: CloseReason, message: string): void {
    if (this.calls.size > 0) this.events.closing(reason, this);
    this.goAway();
    for (const call of [...this.calls]) call.end(Code.UNAVAILABLE, message);
  }

  /** Breaks the connection off. */
  destroy(reason?: CloseReason): void {
    if (reason !== undefined) this.events.closing(reason, this);
    this.h2.destroy();
  }
}
