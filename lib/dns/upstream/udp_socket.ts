/**
 * A UDP socket towards name servers: gives questions their IDs, and matches answers with questions.
 *
 * Permissions: net (the name servers).
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import { sameQuestion } from "../packet/records.ts";
import { BITS3, HEADER, setUint16, uint16 } from "../packet/wire.ts";
import type { Contact } from "./contact.ts";
import type { ExchangeEvents } from "./transport.ts";

/** Time for which an answer of an apparently refusing server is awaited, ms. */
const LATE_MS = 5000;

/** A question that was sent to some servers. */
export interface Sent {
  readonly query: Uint8Array;
  readonly events: ExchangeEvents;
  /** The asked servers, each once. */
  readonly contacts: Contact[];
}

/**
 * A question that failed because the asked server apparently refuses. An answer to the question proves that the server
 * does not refuse.
 */
interface LateQuestion {
  readonly query: Uint8Array;
  readonly contact: Contact;
  readonly stopTimer: Cancel;
}

/** A socket of an address family. The socket receives from the start. */
export class UpstreamSocket {
  readonly #sent = new Map<number, Sent>();
  readonly #late = new Map<number, LateQuestion>();
  readonly #ids = new RandomIds();
  readonly port: number;
  /** Number of questions sent by this socket. */
  questions = 0;
  #retired = false;

  readonly #conn: Deno.DatagramConn;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #closed: () => void;

  /**
   * @param end Monotonic time after which the socket takes no new questions.
   * @param closed Called when the socket has closed.
   */
  constructor(
    conn: Deno.DatagramConn,
    readonly v6: boolean,
    readonly end: number,
    clock: Clock,
    log: Logger,
    closed: () => void,
  ) {
    this.#conn = conn;
    this.#clock = clock;
    this.#log = log;
    this.#closed = closed;
    this.port = (conn.addr as Deno.NetAddr).port;
    void this.#receive();
  }

  /** Takes a random ID that is free on this socket. */
  register(sent: Sent): number {
    this.questions++;
    let id = this.#ids.next();
    while (this.#sent.has(id) || this.#late.has(id)) id = (id + 1) & 0xffff;
    this.#sent.set(id, sent);
    return id;
  }

  /** Sends a registered question to a server. */
  send(id: number, sent: Sent, contact: Contact): void {
    if (!sent.contacts.includes(contact)) {
      sent.contacts.push(contact);
      contact.asked();
    }
    // The same bytes may leave by sockets of both families, under different IDs.
    const query = sent.query.slice();
    setUint16(query, 0, id);
    const { server } = contact;
    const to = { transport: "udp" as const, hostname: server.hostname, port: server.port };
    this.#conn.send(query, to).catch((error) => {
      if (this.#sent.get(id) === sent) sent.events.failed(server, errorMessage(error));
    });
  }

  /** Ends a question. A question to a refusing server is kept for a while, for a late answer. */
  forget(id: number): void {
    const sent = this.#sent.get(id);
    if (sent === undefined) return;
    this.#sent.delete(id);
    for (const contact of sent.contacts) {
      if (contact.v6 !== this.v6) continue;
      contact.ended();
      if (contact.refuses) this.#keepForLateAnswer(id, sent.query, contact);
    }
    this.#closeWhenDone();
  }

  #keepForLateAnswer(id: number, query: Uint8Array, contact: Contact): void {
    for (const [other, late] of this.#late) if (other === id || late.contact === contact) return;
    const stopTimer = this.#clock.after(LATE_MS, () => {
      this.#late.delete(id);
      this.#closeWhenDone();
    });
    this.#late.set(id, { query, contact, stopTimer });
  }

  /** Fails all questions to a refusing server. */
  refused(contact: Contact, reason: string): void {
    if (contact.v6 !== this.v6) return;
    for (const sent of [...this.#sent.values()]) {
      if (sent.contacts.includes(contact)) sent.events.failed(contact.server, reason);
    }
  }

  /** Takes no new questions, and closes when the last question has ended. */
  retire(): void {
    this.#retired = true;
    this.#closeWhenDone();
  }

  #closeWhenDone(): void {
    if (this.#retired && this.#sent.size === 0 && this.#late.size === 0) this.close();
  }

  /** Whether a packet is a question that waits for its answer here. */
  hasSent(packet: Uint8Array): boolean {
    const sent = this.#sent.get(uint16(packet, 0));
    return sent !== undefined && sameQuestion(sent.query, packet);
  }

  /** Closes at once; waiting questions get no event. */
  close(): void {
    for (const late of this.#late.values()) late.stopTimer();
    this.#late.clear();
    try {
      this.#conn.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
    this.#closed();
  }

  async #receive(): Promise<void> {
    const buffer = new Uint8Array(65535);
    for (;;) {
      try {
        const [message, from] = await this.#conn.receive(buffer);
        this.#take(message, from as Deno.NetAddr);
      } catch (error) {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
        this.#log.debug("upstream socket", { error });
        // An error of the network below concerns a single packet. An error of the socket would repeat without end.
        if (!(error instanceof Deno.errors.ConnectionRefused)) return this.close();
      }
    }
  }

  #take(message: Uint8Array, from: Deno.NetAddr): void {
    if (message.length < HEADER || (message[2]! & BITS3.QR) === 0) return;
    const id = uint16(message, 0);
    const sent = this.#sent.get(id);
    if (sent === undefined) return this.#takeLate(id, message, from);
    const contact = sent.contacts.find((contact) => isFrom(contact, from));
    if (contact === undefined || !sameQuestion(sent.query, message)) return;
    contact.answered();
    sent.events.answered(contact.server, message);
  }

  #takeLate(id: number, message: Uint8Array, from: Deno.NetAddr): void {
    const late = this.#late.get(id);
    if (late === undefined || !isFrom(late.contact, from) || !sameQuestion(late.query, message)) return;
    late.stopTimer();
    this.#late.delete(id);
    late.contact.answered();
    this.#closeWhenDone();
  }
}

function isFrom({ server }: Contact, from: Deno.NetAddr): boolean {
  return server.port === from.port && server.hostname === from.hostname;
}

/** Random IDs, drawn many at a time. */
class RandomIds {
  readonly #ids = new Uint16Array(256);
  #used = this.#ids.length;

  next(): number {
    if (this.#used === this.#ids.length) {
      crypto.getRandomValues(this.#ids);
      this.#used = 0;
    }
    return this.#ids[this.#used++]!;
  }
}
