/**
 * Forwards questions to name servers. Equal questions under way are asked once, failures fall back on kept answers, and
 * everything is counted.
 *
 * Permissions: the permissions of the transports.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { nameToText } from "../packet/name.ts";
import type { Question } from "../packet/question.ts";
import { BITS4, HEADER, RCODE } from "../packet/wire.ts";
import { Inquiry, type InquiryOutcome } from "./inquiry.ts";
import { StaleAnswers, staleKey } from "./stale.ts";
import { Ticker } from "./ticker.ts";
import type { NameServer, UpstreamTransport } from "./transport.ts";

/** Time for which a server without an answer stays behind the others, ms. */
export const AVOID_MS = 10_000;

/** The order in which name servers are asked: random, to spread the load. Servers that lately gave no answer come last. */
class ServerOrder {
  readonly #avoidUntil = new Map<NameServer, number>();

  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** The servers in the present order of asking. */
  order(servers: readonly NameServer[], now: number): NameServer[] {
    const shuffled = servers.map((server) => ({ server, place: this.#random() }));
    if (shuffled.length === 1) return [...servers];
    const avoided = ({ server }: { server: NameServer }) => (this.#avoidUntil.get(server) ?? 0) > now ? 1 : 0;
    return shuffled.sort((a, b) => avoided(a) - avoided(b) || a.place - b.place).map(({ server }) => server);
  }

  /** A server gave no answer in time, or no usable answer. */
  silent(server: NameServer, now: number): void {
    this.#avoidUntil.set(server, now + AVOID_MS);
  }

  answered(server: NameServer): void {
    this.#avoidUntil.delete(server);
  }

  /** Forgets servers that are no longer used. */
  retain(servers: readonly NameServer[]): void {
    for (const server of this.#avoidUntil.keys()) if (!servers.includes(server)) this.#avoidUntil.delete(server);
  }
}

/**
 * Time after which a kept answer is given although servers may still answer, ms: RFC 8767, section 5. A client gives up
 * after 5 seconds of its own.
 */
const STALE_AFTER_MS = 1800;

/** Limit of waiting questions. More questions are refused, so that silent servers cannot fill the memory. */
export const MAX_WAITING = 4096;

/** Inputs of forwarding. */
export interface ForwarderParts {
  readonly udp: UpstreamTransport;
  readonly tcp: UpstreamTransport;
  readonly parallel: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly random: () => number;
}

/**
 * Takes an answer. Undefined: no server gave an answer. The answer is shared and valid during the call only, so the
 * taker must copy the answer.
 */
type Taker = (message: Uint8Array | undefined) => void;

/** Equal questions that wait for the same answer. */
interface UnderWay {
  inquiry: Inquiry;
  takers: Taker[];
  /** The time to give a kept answer, if an answer is kept. */
  stale: { at: number; fire(now: number): void } | undefined;
}

/** Passes questions on. */
export class Forwarder {
  readonly #order: ServerOrder;
  readonly #stale = new StaleAnswers();
  readonly #underWay = new Map<string, UnderWay>();
  readonly #ticker: Ticker;
  readonly #seconds: { observe(value: number): void };
  #requests = 0;
  #failures = 0;
  #servers: readonly NameServer[] = [];
  #waiting = 0;

  readonly #parts: ForwarderParts;

  constructor(parts: ForwarderParts) {
    this.#parts = parts;
    this.#order = new ServerOrder(parts.random);
    this.#ticker = new Ticker(parts.clock);
    const requests = parts.metrics.counter("dns_upstream_requests_total");
    const failures = parts.metrics.counter("dns_upstream_failures_total");
    this.#seconds = parts.metrics.histogram("dns_upstream_request_duration_seconds");
    parts.metrics.onScrape(() => {
      requests.inc(this.#requests);
      failures.inc(this.#failures);
      this.#requests = this.#failures = 0;
    });
  }

  /** Sets the servers from now on. The known facts of a remaining server are kept. */
  use(servers: readonly NameServer[]): void {
    this.#servers = servers.map((server) =>
      this.#servers.find(({ hostname, port }) => hostname === server.hostname && port === server.port) ?? server
    );
    this.#order.retain(this.#servers);
  }

  /** Whether a packet from a port of this machine is a question of this program: forwarding it would not end. */
  isOwn(udp: boolean, port: number, packet: Uint8Array): boolean {
    return (udp ? this.#parts.udp : this.#parts.tcp).isOwn(port, packet);
  }

  /**
   * Asks for the answer to a client's packet. The answer is shared by all clients with the same question, has the first
   * client's ID, and may spell the name as another client did.
   * @param query The packet. The forwarder keeps the packet and does not change the bytes.
   * @param question The packet's question.
   */
  forward(query: Uint8Array, question: Question, udp: boolean, take: Taker): void {
    this.#requests++;
    if (this.#waiting >= MAX_WAITING) {
      this.#failures++;
      return take(undefined);
    }
    this.#waiting++;
    const key = (udp ? "u" : "t") + keyOf(query.subarray(2));
    const same = this.#underWay.get(key);
    if (same === undefined) this.#ask(key, query, question, udp, take);
    else same.takers.push(take);
  }

  #ask(key: string, query: Uint8Array, question: Question, udp: boolean, take: Taker): void {
    const began = this.#parts.clock.monotonic();
    const keptAs = staleKey(query, question);
    const stale = this.#stale.findFailed(keptAs, began);
    if (stale !== undefined) {
      this.#waiting--;
      return take(stale);
    }
    const inquiry = new Inquiry({
      transport: udp ? this.#parts.udp : this.#parts.tcp,
      query,
      servers: this.#order.order(this.#servers, began),
      parallel: this.#parts.parallel,
      mayGetLost: udp,
      ticker: this.#ticker,
      began,
      silent: (server) => this.#order.silent(server, this.#parts.clock.monotonic()),
      answered: (server) => this.#order.answered(server),
      ended: (outcome) => {
        this.#underWay.delete(key);
        if (underWay.stale !== undefined) this.#ticker.remove(underWay.stale);
        const now = this.#parts.clock.monotonic();
        this.#seconds.observe((now - began) / 1000);
        this.#give(underWay, this.#settle(outcome, keptAs, query, now));
      },
    });
    const underWay: UnderWay = { inquiry, takers: [take], stale: undefined };
    if (this.#stale.has(keptAs, began)) underWay.stale = this.#giveStaleLater(underWay, keptAs, began);
    this.#underWay.set(key, underWay);
    inquiry.start();
  }

  /** After a while, answers from before; the inquiry goes on, for the next time. */
  #giveStaleLater(underWay: UnderWay, keptAs: string, began: number): UnderWay["stale"] {
    const due = {
      at: began + STALE_AFTER_MS,
      fire: (now: number) => {
        due.at = now; // a later client with the same question need not wait as long again
        if (underWay.takers.length > 0) this.#give(underWay, this.#stale.find(keptAs, now));
      },
    };
    this.#ticker.add(due);
    return due;
  }

  #give(underWay: UnderWay, message: Uint8Array | undefined): void {
    const { takers } = underWay;
    underWay.takers = [];
    this.#waiting -= takers.length;
    for (const take of takers) take(message);
  }

  /** The answer at the end of an inquiry. A usable answer is kept for times without an answer. */
  #settle(outcome: InquiryOutcome, keptAs: string, query: Uint8Array, now: number): Uint8Array | undefined {
    if (outcome.kind === "answer") {
      this.#stale.keep(keptAs, outcome.message, now);
      return outcome.message;
    }
    this.#failures++;
    this.#stale.failed(keptAs, now);
    const stale = this.#stale.find(keptAs, now);
    this.#parts.log.debug("no name server answered", {
      name: nameToText(query, HEADER),
      reasons: outcome.reasons,
      stale: stale !== undefined,
    });
    return stale ?? outcome.message;
  }

  /** Ends all questions under way, as failed, and closes the sockets. */
  close(): void {
    for (const { inquiry } of [...this.#underWay.values()]) inquiry.giveUp("closing");
    this.#ticker.close();
    this.#parts.udp.close();
    this.#parts.tcp.close();
  }
}

const latin1 = new TextDecoder("latin1");

/**
 * Bytes as the key of a map, a character for each byte. For bytes of this length the decoder would take three times as
 * long.
 */
function keyOf(bytes: Uint8Array): string {
  return bytes.length <= 512 ? Reflect.apply(String.fromCharCode, undefined, bytes) : latin1.decode(bytes);
}

/**
 * The answer to one client, from a shared answer: with the client's ID, and the name in the client's spelling.
 * @param known Whether the name exists here. Then "no such name" would be wrong, and becomes "no such record".
 */
export function answerFor(query: Uint8Array, nameEnd: number, shared: Uint8Array, known: boolean): Uint8Array {
  const message = shared.slice();
  message[0] = query[0]!;
  message[1] = query[1]!;
  if (message.length >= nameEnd) message.set(query.subarray(HEADER, nameEnd), HEADER);
  if (known && (message[3]! & BITS4.RCODE) === RCODE.NXDOMAIN) message[3]! &= ~BITS4.RCODE;
  return message;
}
