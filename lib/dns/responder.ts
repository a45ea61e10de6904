/**
 * The responder of both transports: answers from the table, and forwards other questions. The responder counts, and
 * guards against loops.
 *
 * Permissions: the permissions of the forwarder.
 *
 * @module
 */
import type { Logger } from "../kernel/log/log.ts";
import type { Metrics } from "../kernel/metrics/registry.ts";
import { answer, type BeforeTable, failure, udpLimit, VERDICT } from "./answer.ts";
import { Question, readQuestion } from "./packet/question.ts";
import { truncate } from "./packet/records.ts";
import { MAX_TCP_SIZE, RCODE } from "./packet/wire.ts";
import type { LookupTable } from "./table/lookup.ts";
import { answerFor, type Forwarder } from "./upstream/forwarder.ts";

/** Answers packets. */
export class Responder {
  /** Undefined before the first table. */
  table: LookupTable | undefined;
  /** The buffer for answers over TCP: a single answer at a time, because answering never waits. */
  readonly room = new Uint8Array(MAX_TCP_SIZE);
  readonly #question = new Question();
  #requests = 0;
  #loopReported = false;

  readonly #forwarder: Forwarder;
  readonly #before: BeforeTable;
  readonly #random: () => number;
  readonly #log: Logger;

  constructor(forwarder: Forwarder, before: BeforeTable, random: () => number, log: Logger, metrics: Metrics) {
    this.#forwarder = forwarder;
    this.#before = before;
    this.#random = random;
    this.#log = log;
    const counter = metrics.counter("dns_requests_total");
    // Counted by hand: an increment of the registry would cost as much as half an answer.
    metrics.onScrape(() => {
      counter.inc(this.#requests);
      this.#requests = 0;
    });
  }

  /** Answers in place; see {@link answer}. */
  answer(packet: Uint8Array, length: number, udp: boolean, limit: number): number {
    this.#requests++;
    return answer(packet, length, this.#question, this.table, this.#before, udp, limit, this.#random);
  }

  /**
   * Asks name servers for the answer to the last question.
   * @param query A copy of the packet. The callee keeps the copy.
   * @param port The client's port.
   * @param verdict The verdict of the attempt to answer from the table.
   * @param send Always called once with the answer, if only with SERVFAIL.
   */
  forward(query: Uint8Array, udp: boolean, port: number, verdict: number, send: (message: Uint8Array) => void): void {
    const question = this.#question;
    if (this.#forwarder.isOwn(udp, port, query)) {
      this.#tellLoop();
      return send(servfail(query));
    }
    const { nameEnd } = question;
    const limit = udp ? udpLimit(question) : MAX_TCP_SIZE;
    this.#forwarder.forward(query, question, udp, (shared) => {
      if (shared === undefined) return send(servfail(query));
      send(truncate(answerFor(query, nameEnd, shared, verdict === VERDICT.FORWARD_KNOWN), limit));
    });
  }

  /** A socket's error about a packet or connection. */
  failed(transport: "udp" | "tcp", error: unknown): void {
    this.#log.debug("an answer was not delivered", { transport, error });
  }

  #tellLoop(): void {
    if (this.#loopReported) return;
    this.#loopReported = true;
    this.#log.error(
      "questions to a name server come back here, so names that are not in the mesh cannot be resolved; " +
        "a name server of resolv.conf leads here, or redirection does not spare the agent's own questions",
    );
  }
}

function servfail(query: Uint8Array): Uint8Array {
  const packet = query.slice();
  const question = new Question();
  readQuestion(packet, packet.length, question);
  return packet.subarray(0, failure(packet, question, RCODE.SERVFAIL));
}
