/**
 * One HTTP/2 connection of a gRPC server: its calls, keepalive, age and end.
 *
 * Permissions: none (the socket comes from outside).
 *
 * @module
 */
import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Call } from "./call.ts";
import type { Lane, Pacer } from "./pacer.ts";
import { Code } from "./status.ts";

/** Limits of a connection, in milliseconds. */
export interface ConnectionLimits {
  /** Silence of the peer after which it is pinged. */
  readonly keepaliveInterval: number;
  /** Wait for the answer to a ping (or any other bytes) before the connection is closed. */
  readonly keepaliveTimeout: number;
  /** Age at which the client is asked to reconnect (GOAWAY). */
  readonly maxConnectionAge: number;
  /** Time from that GOAWAY until the calls still open are ended. */
  readonly maxConnectionAgeGrace: number;
}

/** Why a connection was closed by the server. */
export type CloseReason = "keepalive" | "stall" | "age" | "shutdown";

/** A connection. `sweep` must be called about once a second. */
export class Connection {
  readonly calls = new Set<Call>();
  readonly lane: Lane;
  readonly address: string;
  #bytesRead = 0;
  #lastHeard = performance.now();
  #pingedAt: number | undefined;
  #goneAwayAt: number | undefined;
  readonly #retireAt: number;

  constructor(
    readonly session: ServerHttp2Session,
    readonly socket: Socket,
    pacer: Pacer,
    private readonly limits: ConnectionLimits,
    private readonly onClosing: (reason: CloseReason, connection: Connection) => void,
  ) {
    this.address = `${socket.remoteAddress ?? "?"}:${socket.remotePort ?? "?"}`;
    this.lane = pacer.lane(socket, () => this.destroy("stall"));
    // A tenth of jitter, so that clients that came together do not come back together.
    this.#retireAt = performance.now() + limits.maxConnectionAge * (0.9 + 0.2 * Math.random());
  }

  /** Applies keepalive and age. */
  sweep(now: number): void {
    if (this.socket.destroyed) return;
    if (this.socket.bytesRead !== this.#bytesRead) {
      this.#bytesRead = this.socket.bytesRead;
      this.#lastHeard = now;
      this.#pingedAt = undefined;
    }
    if (this.#pingedAt !== undefined) {
      if (now - this.#pingedAt >= this.limits.keepaliveTimeout) this.destroy("keepalive");
    } else if (now - this.#lastHeard >= this.limits.keepaliveInterval) {
      this.#pingedAt = now;
      this.#try(() => this.session.ping(() => {}));
    }
    if (this.#goneAwayAt === undefined && now >= this.#retireAt) this.goAway(now);
    else if (this.#goneAwayAt !== undefined && now - this.#goneAwayAt >= this.limits.maxConnectionAgeGrace) {
      this.finish("age", "maximum connection age reached");
    }
  }

  /** Tells the client to open no more calls here. */
  goAway(now = performance.now()): void {
    if (this.#goneAwayAt !== undefined) return;
    this.#goneAwayAt = now;
    this.#try(() => this.session.goaway(0));
    if (this.calls.size === 0) this.#try(() => this.session.close());
  }

  /** Ends all calls with UNAVAILABLE, after what they have sent, and closes. */
  finish(reason: CloseReason, message: string): void {
    this.goAway();
    if (this.calls.size > 0) this.onClosing(reason, this);
    for (const call of [...this.calls]) call.end(Code.UNAVAILABLE, message);
    this.#try(() => this.session.close());
  }

  /** Breaks the connection off. */
  destroy(reason?: CloseReason): void {
    if (this.socket.destroyed) return;
    if (reason !== undefined) this.onClosing(reason, this);
    this.lane.close();
    this.#try(() => this.session.destroy());
    this.socket.destroy();
  }

  /** The session may be gone already; then there is nothing left to tell the peer. */
  #try(action: () => void): void {
    if (this.session.destroyed) return;
    try {
      action();
    } catch {
      this.socket.destroy();
    }
  }
}
