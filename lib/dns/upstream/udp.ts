/**
 * Questions to name servers over UDP, from a socket for each family. The sockets are replaced often.
 *
 * A separate socket for every question would cost system calls and leave an entry in the kernel's connection table each
 * time; a single socket for the life of the process would make forged answers easier. So the socket is replaced after
 * some time or use, IDs are random, and an answer must come from a server that was asked and repeat the question. (Four
 * sockets at a time made a question an eighth dearer: each answer woke another receiver.)
 *
 * Permissions: net (the name servers; a local port).
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { Contact } from "./contact.ts";
import type { Exchange, ExchangeEvents, NameServer, UpstreamTransport } from "./transport.ts";
import { type Sent, UpstreamSocket } from "./udp_socket.ts";

/** Limit of questions on a socket. */
export const QUESTIONS_PER_SOCKET = 500;
/** Time after which a socket gets no new questions, ms. */
export const SOCKET_LIFE_MS = 10_000;
/** Limit of remembered servers: more than any `resolv.conf` names at a time. */
const MAX_CONTACTS = 64;

/** Opens UDP sockets on demand. */
export class UdpTransport implements UpstreamTransport {
  /** The sockets for new questions. */
  readonly #current: { v4: UpstreamSocket | undefined; v6: UpstreamSocket | undefined } = {
    v4: undefined,
    v6: undefined,
  };
  /** All open sockets. */
  readonly #sockets = new Set<UpstreamSocket>();
  readonly #contacts = new Map<NameServer, Contact>();

  readonly #clock: Clock;
  readonly #log: Logger;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  start(query: Uint8Array, events: ExchangeEvents): Exchange {
    const sent: Sent = { query, events, contacts: [] };
    const places: { socket: UpstreamSocket; id: number }[] = [];
    return {
      ask: (server) => {
        const contact = this.#contact(server);
        const refusal = contact.refusal();
        if (refusal !== undefined) return events.failed(server, refusal);
        const { v6 } = contact;
        let place = places.find(({ socket }) => socket.v6 === v6);
        if (place === undefined) {
          const socket = this.#socket(v6);
          if (typeof socket === "string") return events.failed(server, socket);
          place = { socket, id: socket.register(sent) };
          places.push(place);
        }
        place.socket.send(place.id, sent, contact);
      },
      close: () => places.forEach(({ socket, id }) => socket.forget(id)),
    };
  }

  #contact(server: NameServer): Contact {
    const known = this.#contacts.get(server);
    if (known !== undefined) return known;
    if (this.#contacts.size >= MAX_CONTACTS) this.#forgetIdle();
    const contact = new Contact(server, this.#clock, (refusing, reason) => {
      for (const socket of [...this.#sockets]) socket.refused(refusing, reason);
    });
    this.#contacts.set(server, contact);
    return contact;
  }

  #forgetIdle(): void {
    for (const [server, contact] of this.#contacts) {
      if (!contact.idle) continue;
      contact.close();
      this.#contacts.delete(server);
    }
  }

  /** The socket for a new question; the error when none can be opened. */
  #socket(v6: boolean): UpstreamSocket | string {
    const family = v6 ? "v6" : "v4";
    const socket = this.#current[family];
    if (socket !== undefined && socket.questions < QUESTIONS_PER_SOCKET && this.#clock.monotonic() < socket.end) {
      return socket;
    }
    socket?.retire();
    this.#current[family] = undefined;
    try {
      const conn = Deno.listenDatagram({ transport: "udp", hostname: v6 ? "::" : "0.0.0.0", port: 0 });
      const opened = new UpstreamSocket(
        conn,
        v6,
        this.#clock.monotonic() + SOCKET_LIFE_MS,
        this.#clock,
        this.#log,
        () => {
          this.#sockets.delete(opened);
          if (this.#current[family] === opened) this.#current[family] = undefined;
        },
      );
      this.#sockets.add(opened);
      return this.#current[family] = opened;
    } catch (error) {
      return `no socket: ${errorMessage(error)}`;
    }
  }

  isOwn(port: number, packet: Uint8Array): boolean {
    for (const socket of this.#sockets) if (socket.port === port && socket.hasSent(packet)) return true;
    return false;
  }

  close(): void {
    for (const contact of this.#contacts.values()) contact.close();
    for (const socket of this.#sockets) socket.close();
  }
}
