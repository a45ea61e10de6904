/**
 * A question's way through the name servers: when to ask a server, when to take an answer, and when to give up. An
 * inquiry has no sockets and no timers: the inquiry receives answers, failures and time.
 *
 * @module
 */
import { BITS4, RCODE } from "../packet/wire.ts";
import type { Due, Ticker } from "./ticker.ts";
import type { Exchange, ExchangeEvents, NameServer, UpstreamTransport } from "./transport.ts";

/**
 * Time until a question is answered, if only with SERVFAIL, ms. C libraries and dig wait 5 s (resolv.conf(5),
 * `timeout`), and must have the answer before.
 */
const DEADLINE_MS = 4500;

/**
 * Time for a server's answer, ms. After this time the next server is asked too, or over UDP the same server again,
 * because one lost packet must not cost a client its 5 s. The time doubles when every server has been asked: 0, 400,
 * 1200 and 2800 ms for a single server, so that repeated questions do not make a slow server slower.
 */
export const PATIENCE_MS = 400;

/** How a question ended. */
export type InquiryOutcome =
  /** A usable answer: NOERROR or NXDOMAIN. The bytes are valid during the call only. */
  | { readonly kind: "answer"; readonly message: Uint8Array }
  /** No usable answer: the first error answer of a server, if any, and all reasons for people. */
  | { readonly kind: "failed"; readonly message: Uint8Array | undefined; readonly reasons: readonly string[] };

/** The inputs of an inquiry. */
export interface InquiryParts {
  readonly transport: UpstreamTransport;
  readonly query: Uint8Array;
  /** In the order of asking. */
  readonly servers: readonly NameServer[];
  /** All at once, or one after the other. */
  readonly parallel: boolean;
  /** Whether a question may be sent to a server twice, because it may get lost. */
  readonly mayGetLost: boolean;
  readonly ticker: Ticker;
  /** Monotonic time of the start. */
  readonly began: number;
  /** Called for each server without a usable answer in time. */
  readonly silent: (server: NameServer) => void;
  /** Called for the server that answered. */
  readonly answered: (server: NameServer) => void;
  /** Called once, at the end. */
  readonly ended: (outcome: InquiryOutcome) => void;
}

/** A question under way. */
export class Inquiry implements Due, ExchangeEvents {
  at: number;
  readonly #exchange: Exchange;
  /** Servers that will give no usable answer. */
  readonly #out: NameServer[] = [];
  readonly #reasons: string[] = [];
  #said: Uint8Array | undefined;
  #turn = 0;
  #done = false;

  readonly #parts: InquiryParts;

  constructor(parts: InquiryParts) {
    this.#parts = parts;
    this.at = parts.began + PATIENCE_MS;
    this.#exchange = parts.transport.start(parts.query, this);
  }

  /** Asks the first server, or all. */
  start(): void {
    if (this.#parts.servers.length === 0) return this.giveUp("no name server is known");
    this.#parts.ticker.add(this);
    this.#askMore();
  }

  /** A server did not answer in time, or the deadline has come. */
  fire(now: number): void {
    const { servers, silent, began } = this.#parts;
    for (const server of servers.slice(0, this.#turn)) if (!this.#out.includes(server)) silent(server);
    if (now >= began + DEADLINE_MS) return this.giveUp(`no answer in ${DEADLINE_MS} ms`);
    const rounds = Math.floor(this.#turn / servers.length);
    this.at = Math.min(now + PATIENCE_MS * 2 ** rounds, began + DEADLINE_MS);
    this.#askMore();
  }

  answered(server: NameServer, message: Uint8Array): void {
    if (this.#done) return;
    const rcode = message[3]! & BITS4.RCODE;
    if (rcode === RCODE.NOERROR || rcode === RCODE.NXDOMAIN) {
      this.#parts.answered(server);
      return this.#finish({ kind: "answer", message });
    }
    // Perhaps only this server cannot or will not answer, and another server can.
    this.#said ??= message.slice();
    this.failed(server, `response code ${rcode}`);
  }

  failed(server: NameServer, reason: string): void {
    if (this.#done || this.#out.includes(server)) return;
    this.#out.push(server);
    this.#reasons.push(`${server.hostname}:${server.port}: ${reason}`);
    this.#parts.silent(server);
    if (this.#out.length === this.#parts.servers.length) return this.giveUp();
    if (!this.#parts.parallel) this.#askMore();
  }

  /** Ends the inquiry as failed. */
  giveUp(reason?: string): void {
    if (reason !== undefined) this.#reasons.push(reason);
    this.#finish({ kind: "failed", message: this.#said, reasons: this.#reasons });
  }

  /** Asks the next server, or all servers. Failed servers are left out. */
  #askMore(): void {
    const { servers, parallel, mayGetLost } = this.#parts;
    for (let step = 0; step < servers.length && !this.#done; step++) {
      if (this.#turn >= servers.length && !mayGetLost) return;
      const server = servers[this.#turn++ % servers.length]!;
      if (this.#out.includes(server)) continue;
      this.#exchange.ask(server);
      if (!parallel) return;
    }
  }

  #finish(outcome: InquiryOutcome): void {
    if (this.#done) return;
    this.#done = true;
    this.#parts.ticker.remove(this);
    this.#exchange.close();
    this.#parts.ended(outcome);
  }
}
