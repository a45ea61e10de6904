/**
 * Passes questions on to name servers: equal ones under way are asked once, failures fall back on answers kept from
 * before, and all of it is counted.
 *
 * Permissions: those of the transports.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { failure } from "../answer.ts";
import { nameToText } from "../packet/name.ts";
import { Question, readQuestion } from "../packet/question.ts";
import { BITS4, HEADER, RCODE } from "../packet/wire.ts";
import { inquire, type Outcome } from "./inquiry.ts";
import { ServerOrder } from "./order.ts";
import { StaleAnswers, staleKey } from "./stale.ts";
import type { Server, Transport } from "./types.ts";

/**
 * Time after which an answer from before is given although servers may still answer: RFC 8767, section 5. A client that
 * gets its answer after its own 5 seconds has given up.
 */
export const STALE_AFTER_MS = 1800;

/** Questions that may be under way; more are refused, so that silent servers cannot fill the memory. */
const MAX_WAITING = 4096;

/** What forwarding is made of. */
export interface ForwarderParts {
  readonly udp: Transport;
  readonly tcp: Transport;
  readonly parallel: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly random: () => number;
}

/** A question to be passed on. */
export interface Forwarded {
  /** The client's packet; not changed. */
  readonly query: Uint8Array;
  readonly udp: boolean;
  /** The name exists here, so "no such name" would be wrong: it becomes "no such record". */
  readonly known: boolean;
}

/** Passes questions on. */
export class Forwarder {
  readonly #order: ServerOrder;
  readonly #stale = new StaleAnswers();
  readonly #underWay = new Map<string, Promise<Uint8Array | undefined>>();
  readonly #count: { requests: { inc(): void }; failures: { inc(): void }; seconds: { observe(value: number): void } };
  #servers: readonly Server[] = [];
  #waiting = 0;
  readonly #end = new AbortController();

  constructor(private readonly parts: ForwarderParts) {
    this.#order = new ServerOrder(parts.random);
    this.#count = {
      requests: parts.metrics.counter("dns_upstream_requests_total"),
      failures: parts.metrics.counter("dns_upstream_failures_total"),
      seconds: parts.metrics.histogram("dns_upstream_request_duration_seconds"),
    };
  }

  /** Sets the servers to ask from now on. */
  use(servers: readonly Server[]): void {
    this.#servers = servers;
    this.#order.retain(servers);
  }

  /** Whether a packet from a port of this machine is a question that was sent from here: passing it on would not end. */
  isOwn(udp: boolean, port: number, packet: Uint8Array): boolean {
    return (udp ? this.parts.udp : this.parts.tcp).isOwn(port, packet);
  }

  /** Ends all questions under way, as failed, and closes the sockets. */
  close(): void {
    this.#end.abort();
    this.parts.udp.close();
    this.parts.tcp.close();
  }

  /** The answer to a client's question, with its ID; always one, if only SERVFAIL. Never rejects. */
  async forward(forwarded: Forwarded): Promise<Uint8Array> {
    const { query, udp, known } = forwarded;
    this.#count.requests.inc();
    const question = new Question();
    readQuestion(query, query.length, question);
    if (this.#waiting >= MAX_WAITING) return this.#servfail(query, question, ["too many questions under way"]);
    this.#waiting++;
    try {
      const shared = await this.#shared(query, question, udp);
      if (shared === undefined) return servfail(query, question);
      const message = shared.slice();
      message[0] = query[0]!;
      message[1] = query[1]!;
      // The name as this client wrote it: an answer from before may have been to another spelling.
      if (message.length >= question.nameEnd) message.set(query.subarray(HEADER, question.nameEnd), HEADER);
      if (known && (message[3]! & BITS4.RCODE) === RCODE.NXDOMAIN) message[3]! &= ~BITS4.RCODE;
      return message;
    } finally {
      this.#waiting--;
    }
  }

  /** The answer that all equal questions under way share; undefined when there is none. */
  #shared(query: Uint8Array, question: Question, udp: boolean): Promise<Uint8Array | undefined> {
    const key = (udp ? "u" : "t") + latin1.decode(query.subarray(2));
    let answer = this.#underWay.get(key);
    if (answer === undefined) {
      answer = this.#ask(query, question, udp, () => this.#underWay.delete(key));
      this.#underWay.set(key, answer);
    }
    return answer;
  }

  /** Asks; resolves with an answer from before when servers are slow, and goes on asking for the next time. */
  #ask(query: Uint8Array, question: Question, udp: boolean, done: () => void): Promise<Uint8Array | undefined> {
    const { clock, parallel } = this.parts;
    const key = staleKey(query, question);
    const began = clock.monotonic();
    const { promise, resolve } = Promise.withResolvers<Uint8Array | undefined>();
    const stopWaiting = this.#stale.has(key, began)
      ? clock.after(STALE_AFTER_MS, () => resolve(this.#stale.find(key, clock.monotonic())))
      : () => {};
    const outcome = inquire({
      transport: udp ? this.parts.udp : this.parts.tcp,
      query,
      servers: this.#order.order(this.#servers, began),
      parallel,
      mayGetLost: udp,
      clock,
      silent: (server) => this.#order.silent(server, clock.monotonic()),
      answered: (server) => this.#order.answered(server),
      signal: this.#end.signal,
    });
    void outcome.then((ended) => {
      stopWaiting();
      done();
      const now = clock.monotonic();
      this.#count.seconds.observe((now - began) / 1000);
      resolve(this.#settle(ended, key, query, now));
    });
    return promise;
  }

  /** What to answer at the end, and what to keep of it. */
  #settle(outcome: Outcome, key: string, query: Uint8Array, now: number): Uint8Array | undefined {
    if (outcome.kind === "answer") {
      this.#stale.keep(key, outcome.message, now);
      return outcome.message;
    }
    this.#count.failures.inc();
    const stale = this.#stale.find(key, now);
    this.parts.log.debug("no name server answered", {
      name: nameToText(query, HEADER),
      reasons: outcome.reasons,
      stale: stale !== undefined,
    });
    return stale ?? outcome.message;
  }

  #servfail(query: Uint8Array, question: Question, reasons: readonly string[]): Uint8Array {
    this.#count.failures.inc();
    this.parts.log.debug("question refused", { name: nameToText(query, HEADER), reasons });
    return servfail(query, question);
  }
}

const latin1 = new TextDecoder("latin1");

function servfail(query: Uint8Array, question: Question): Uint8Array {
  const packet = query.slice();
  return packet.subarray(0, failure(packet, question, RCODE.SERVFAIL));
}
