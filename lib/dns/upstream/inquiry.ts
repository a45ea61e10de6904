/**
 * One question's way through the name servers: which server to ask when, which answer to take, when to give up. It has
 * no sockets and no timers of its own: it receives answers, failures and time.
 *
 * @module
 */
import { BITS4, RCODE } from "../packet/wire.ts";
import type { Due, Ticker } from "./ticker.ts";
import type { Exchange, ExchangeEvents, NameServer, UpstreamTransport } from "./transport.ts";

/**
 * Time in which a question is answered, if only with SERVFAIL, in ms. C libraries and dig wait 5 s (resolv.conf(5),
 * `timeout`), and must have the answer before.
 */
export const DEADLINE_MS = 4500;

/**
 * Time in which a server should answer, in ms. After it the next server is asked too, or over UDP the same one again,
 * because one lost packet must not cost a client its 5 s. Doubles when every server has been asked: 0, 400, 1200 and
 * 2800 ms for a single one, so that a slow server does not get slower by repeated questions.
 */
export const PATIENCE_MS = 400;

/** How a question ended. */
export type InquiryOutcome =
  /** An answer that says something: NOERROR or NXDOMAIN; its bytes hold during the call only. */
  | { readonly kind: "answer"; readonly message: Uint8Array }
  /** No such answer; the first error that a server answered with, if one did, and all reasons for people. */
  | { readonly kind: "failed"; readonly message: Uint8Array | undefined; readonly reasons: readonly string[] };

/** The inputs of an inquiry. */
export interface InquiryParts {
  readonly transport: UpstreamTransport;
  readonly query: Uint8Array;
  /** In the order in which to ask them. */
  readonly servers: readonly NameServer[];
  /** All at once, or one after the other. */
  readonly parallel: boolean;
  /** Whether a question may be sent twice to a server: it may get lost on the way. */
  readonly mayGetLost: boolean;
  readonly ticker: Ticker;
  /** Monotonic time of the start. */
  readonly began: number;
  /** Called for each server that gives no usable answer, or not in time. */
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
    // It may be that only this server cannot, or does not want to: another one may know.
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

  /** Ends it as failed. */
  giveUp(reason?: string): void {
    if (reason !== undefined) this.#reasons.push(reason);
    this.#finish({ kind: "failed", message: this.#said, reasons: this.#reasons });
  }

  /** Asks the next server, or all of them; servers that failed are left out. */
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
