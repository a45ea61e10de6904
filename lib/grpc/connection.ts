/**
 * One connection of a gRPC server, with its calls and all time limits: silence, age, stalls, unfinished input.
 *
 * @module
 */
import { H2Connection, type H2Limits } from "./h2/connection.ts";
import type { Transport } from "../sockets/transport/transport.ts";
import type { SendBudget } from "./h2/outbound.ts";
import type { H2Stream } from "./h2/stream.ts";
import type { Call } from "./call.ts";
import { Code } from "./codes.ts";
import type { HeldBytes } from "./budget/held.ts";
import type { RemoteTime } from "../sockets/patience.ts";

/** Limits of a connection, in milliseconds. */
export interface ConnectionLimits {
  /** Longest time before a new connection opens a call. */
  readonly handshakeTimeout: number;
  /** Longest time from the beginning of a frame or header block to its end. */
  readonly frameTimeout: number;
  /** Longest time before the first message of a call. */
  readonly firstMessageTimeout: number;
  /** The client's silence before a ping. */
  readonly keepaliveInterval: number;
  /** Wait for the answer to a ping (or any other bytes) before the connection is closed. */
  readonly keepaliveTimeout: number;
  /** Age at which the client is asked to reconnect (GOAWAY). */
  readonly maxConnectionAge: number;
  /** Time from this GOAWAY until open calls are ended. */
  readonly maxConnectionAgeGrace: number;
  /** Longest time without progress while data wait for the client. After that the client is given up. */
  readonly stallTimeout: number;
}

/** Why a connection was closed by the server. */
export type CloseReason = "handshake" | "frame" | "keepalive" | "stall" | "age" | "shutdown";

/** Calls of a connection that may wait for a first message. */
const MAX_WAITING = 100;

/** The events of a connection. */
export interface ConnectionEvents {
  call(stream: H2Stream, connection: Connection): void;
  closing(reason: CloseReason, connection: Connection): void;
  close(connection: Connection): void;
}

/**
 * A connection. `sweep` must be called about once a second, unless the process has stalled ({@linkcode RemoteTime}).
 */
export class Connection {
  readonly calls = new Set<Call>();
  readonly h2: H2Connection;
  readonly held: HeldBytes;
  /**
   * Calls and refused requests that wait for the client, the oldest first, with the start of the wait and the way to
   * end each.
   */
  readonly #waiting = new Map<Call | H2Stream, { since: number; end: () => void }>();
  #anyCall = false;
  readonly #openedAt: number;
  readonly #retireAt: number;
  #bytesRead = 0;
  #lastHeard: number;
  #pingedAt: number | undefined;
  #goneAwayAt: number | undefined;

  readonly #time: RemoteTime;
  readonly #limits: ConnectionLimits;
  readonly #events: ConnectionEvents;

  constructor(
    readonly transport: Transport,
    budget: SendBudget,
    h2: H2Limits & { readonly held: HeldBytes; readonly time: RemoteTime },
    limits: ConnectionLimits,
    events: ConnectionEvents,
  ) {
    this.#time = h2.time;
    this.#openedAt = this.#lastHeard = h2.time.now;
    this.#limits = limits;
    this.#events = events;
    // Jitter of a tenth, so that clients that came together do not all come back together.
    this.#retireAt = this.#openedAt + limits.maxConnectionAge * (0.9 + 0.2 * Math.random());
    this.held = h2.held;
    this.h2 = new H2Connection(transport, budget, h2, {
      stream: (stream) => events.call(stream, this),
      close: () => events.close(this),
    });
  }

  /** `address:port` of the remote end, or the path of the Unix socket. */
  get address(): string {
    return this.transport.peer.address;
  }

  /** Whether another call may wait for a first message, or another refused request for its end. */
  get mayWait(): boolean {
    return this.#waiting.size < MAX_WAITING;
  }

  /** A call was opened. */
  opened(call: Call): void {
    this.#anyCall = true;
    this.calls.add(call);
    const { firstMessageTimeout } = this.#limits;
    this.#wait(call, () => call.end(Code.DEADLINE_EXCEEDED, `no message within ${firstMessageTimeout / 1000} s`));
  }

  /** Answers a request that is not a call with an HTTP status, after the end of the request. */
  refuse(stream: H2Stream, status: string, text: string): void {
    this.#wait(stream, () => stream.reset());
    stream.listener = {
      data() {},
      end() {
        stream.respond({ ":status": status, "content-type": "text/plain" });
        stream.write(new TextEncoder().encode(text));
        stream.end();
      },
      close: () => this.#waiting.delete(stream),
    };
  }

  #wait(what: Call | H2Stream, end: () => void): void {
    this.#waiting.set(what, { since: this.#time.now, end });
  }

  /** The first message of a call has arrived. */
  begun(call: Call): void {
    this.#waiting.delete(call);
  }

  /** A call is over. */
  closed(call: Call): void {
    this.calls.delete(call);
    this.#waiting.delete(call);
  }

  /** Applies all limits of time. */
  sweep(): void {
    const limits = this.#limits;
    const { now } = this.#time;
    if (!this.#anyCall && now - this.#openedAt >= limits.handshakeTimeout) return this.destroy("handshake");
    // The missing input may have arrived and wait to be read.
    if (!this.h2.waitsForTurn) {
      const { insideSince } = this.h2;
      if (insideSince !== undefined && now - insideSince >= limits.frameTimeout) return this.destroy("frame");
      this.#endSilentCalls(now);
    }
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
    if (this.#goneAwayAt === undefined && now >= this.#retireAt) this.goAway();
    else if (this.#goneAwayAt !== undefined && now - this.#goneAwayAt >= limits.maxConnectionAgeGrace) {
      this.finish("age", "maximum connection age reached");
    }
  }

  #endSilentCalls(now: number): void {
    const { firstMessageTimeout } = this.#limits;
    for (const { since, end } of this.#waiting.values()) {
      if (now - since < firstMessageTimeout) return;
      end();
    }
  }

  /** Asks the client to open no more calls here (GOAWAY). */
  goAway(): void {
    this.#goneAwayAt ??= this.#time.now;
    this.h2.goAway();
  }

  /** Ends all calls with UNAVAILABLE, after the messages already sent, and closes. */
  finish(reason: CloseReason, message: string): void {
    if (this.calls.size > 0) this.#events.closing(reason, this);
    this.goAway();
    for (const call of [...this.calls]) call.end(Code.UNAVAILABLE, message);
  }

  /** Breaks the connection off. */
  destroy(reason?: CloseReason): void {
    if (reason !== undefined) this.#events.closing(reason, this);
    this.h2.destroy();
  }
}
