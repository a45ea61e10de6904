/**
 * One question's way through the name servers: whom to ask when, which answer to take, when to give up. It knows
 * nothing of sockets: it is told of answers, failures and time.
 *
 * Permissions: none.
 *
 * @module
 */
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import { BITS4, RCODE } from "../packet/wire.ts";
import type { Exchange, Server, Transport } from "./types.ts";

/** Time in which a question must be answered. C libraries wait as long (resolv.conf(5), `timeout`). */
export const DEADLINE_MS = 5000;

/**
 * Time after which a silent server is not waited for alone: the next is asked too, or over UDP the same again, because
 * one lost packet must not cost a client its 5 seconds.
 */
export const PATIENCE_MS = 1000;

/** How a question ended. */
export type Outcome =
  /** An answer that says something: NOERROR or NXDOMAIN. */
  | { readonly kind: "answer"; readonly message: Uint8Array }
  /** No such answer; what a server said instead, if one did, and what went wrong. */
  | { readonly kind: "failed"; readonly message: Uint8Array | undefined; readonly reasons: readonly string[] };

/** What an inquiry is made of. */
export interface InquiryParts {
  readonly transport: Transport;
  readonly query: Uint8Array;
  /** In the order in which to ask them. */
  readonly servers: readonly Server[];
  /** All at once, or one after the other. */
  readonly parallel: boolean;
  /** Whether a question may be sent twice to a server: it may get lost on the way. */
  readonly mayGetLost: boolean;
  readonly clock: Clock;
  /** Told of servers that gave no usable answer, or one. */
  readonly silent: (server: Server) => void;
  readonly answered: (server: Server) => void;
  /** Ends it at once, as failed. */
  readonly signal: AbortSignal;
}

/** Asks; the promise never rejects. */
export function inquire(parts: InquiryParts): Promise<Outcome> {
  return new Promise((resolve) => new Inquiry(parts, resolve).start());
}

class Inquiry {
  readonly #exchange: Exchange;
  /** Servers that will give no usable answer. */
  readonly #out = new Set<Server>();
  readonly #reasons: string[] = [];
  readonly #began: number;
  #said: Uint8Array | undefined;
  #turn = 0;
  #cancel: Cancel = () => {};
  #done = false;
  readonly #end = () => this.#giveUp("closing");

  constructor(private readonly parts: InquiryParts, private readonly resolve: (outcome: Outcome) => void) {
    this.#began = parts.clock.monotonic();
    this.#exchange = parts.transport.start(parts.query, {
      answered: (server, message) => this.#answered(server, message),
      failed: (server, reason) => this.#failed(server, reason),
    });
  }

  start(): void {
    if (this.parts.signal.aborted) return this.#giveUp("closing");
    if (this.parts.servers.length === 0) return this.#giveUp("no name server is known");
    this.parts.signal.addEventListener("abort", this.#end, { once: true });
    this.#arm();
    this.#askMore();
  }

  /** The next server, or all of them; servers that are out are stepped over. */
  #askMore(): void {
    const { servers, parallel, mayGetLost } = this.parts;
    for (let step = 0; step < servers.length && !this.#done; step++) {
      if (this.#turn >= servers.length && !mayGetLost) return;
      const server = servers[this.#turn++ % servers.length]!;
      if (this.#out.has(server)) continue;
      this.#exchange.ask(server);
      if (!parallel) return;
    }
  }

  #arm(): void {
    const left = this.#began + DEADLINE_MS - this.parts.clock.monotonic();
    if (left <= 0) return this.#giveUp(`no answer in ${DEADLINE_MS} ms`);
    this.#cancel = this.parts.clock.after(Math.min(PATIENCE_MS, left), () => {
      this.#blameAsked();
      this.#arm();
      if (!this.#done) this.#askMore();
    });
  }

  /** Who was asked and is silent after all that patience. */
  #blameAsked(): void {
    const { servers, silent } = this.parts;
    for (const server of servers.slice(0, this.#turn)) if (!this.#out.has(server)) silent(server);
  }

  #answered(server: Server, message: Uint8Array): void {
    if (this.#done) return;
    const rcode = message[3]! & BITS4.RCODE;
    if (rcode === RCODE.NOERROR || rcode === RCODE.NXDOMAIN) {
      this.parts.answered(server);
      return this.#finish({ kind: "answer", message });
    }
    // It may be that only this server cannot, or does not want to: another one may know.
    this.#said ??= message;
    this.#failed(server, `response code ${rcode}`);
  }

  #failed(server: Server, reason: string): void {
    if (this.#done || this.#out.has(server)) return;
    this.#out.add(server);
    this.#reasons.push(`${server.hostname}:${server.port}: ${reason}`);
    this.parts.silent(server);
    if (this.#out.size === this.parts.servers.length) return this.#giveUp();
    if (!this.parts.parallel) this.#askMore();
  }

  #giveUp(reason?: string): void {
    if (reason !== undefined) this.#reasons.push(reason);
    this.#finish({ kind: "failed", message: this.#said, reasons: this.#reasons });
  }

  #finish(outcome: Outcome): void {
    if (this.#done) return;
    this.#done = true;
    this.#cancel();
    this.parts.signal.removeEventListener("abort", this.#end);
    this.#exchange.close();
    this.resolve(outcome);
  }
}
