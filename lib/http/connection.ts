/**
 * One connection of the HTTP server: the requests under way, and the time limit for the client's next step.
 *
 * `node:http` has time limits only for connections from its own listener. These connections come from listeners of
 * `lib/sockets`.
 *
 * @module
 */
import type { Duplex } from "node:stream";
import type { Cancel, Clock } from "../kernel/time/clock.ts";
import { remoteDeadline } from "../sockets/patience.ts";
import type { Peer } from "../sockets/transport/peer.ts";
import type { HttpLimits } from "./limits.ts";

export class HttpConnection {
  readonly stream: Duplex;
  readonly peer: Peer;
  /** Number of requests without an answer. */
  pending = 0;
  readonly #limits: HttpLimits;
  readonly #clock: Clock;
  readonly #onWait: (connection: HttpConnection) => void;
  #last: Promise<void> = Promise.resolve();
  #request: AbortController | undefined;
  #cancel: Cancel | undefined;

  /** @param onWait called whenever the connection begins to wait for the client */
  constructor(
    stream: Duplex,
    peer: Peer,
    limits: HttpLimits,
    clock: Clock,
    onWait: (connection: HttpConnection) => void,
  ) {
    this.stream = stream;
    this.peer = peer;
    this.#limits = limits;
    this.#clock = clock;
    this.#onWait = onWait;
    this.#within(limits.headTime);
  }

  /** Whether the connection waits for the client: to send a head or a body, or to take a response. */
  get waits(): boolean {
    return this.#cancel !== undefined;
  }

  /** Answers a request after all earlier requests. */
  enqueue(answer: (signal: AbortSignal) => Promise<void>): void {
    this.pending++;
    this.#last = this.#last.then(async () => {
      if (this.stream.destroyed) return;
      this.#request = new AbortController();
      this.#within(this.#limits.bodyTime);
      await answer(this.#request.signal);
      this.#request = undefined;
      this.pending--;
      this.#within(this.#limits.idleTime);
    });
  }

  /** The request has come whole. While the server makes the answer, the client has no time limit. */
  bodyRead(): void {
    this.#disarm();
  }

  /** A part of the response waits for the client to take it. */
  sending(): void {
    this.#within(this.#limits.stallTime);
  }

  /** The client has all finished parts. Until the next part, the client has no time limit. */
  sent(): void {
    this.#disarm();
  }

  /** Aborts the request under way: nobody waits for the answer any more. */
  abort(reason: string): void {
    this.#request?.abort(new Error(reason));
  }

  /** The connection has ended. */
  closed(): void {
    this.#disarm();
    this.abort("the client has gone away");
  }

  #disarm(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #within(time: number): void {
    this.#disarm();
    if (this.stream.destroyed) return;
    this.#cancel = remoteDeadline(time, () => this.stream.destroy(), this.#clock);
    this.#onWait(this);
  }
}
