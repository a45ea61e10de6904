/**
 * Questions to name servers over UDP, from one socket a family that is replaced often.
 *
 * A socket of its own for every question would cost system calls and leave an entry in the kernel's connection table
 * each time; one socket for ever would make forged answers easier. So the socket is replaced after some time or use, IDs
 * are random, and an answer must come from a server that was asked and carry the same question. (Four sockets at a time
 * made a question an eighth dearer: each answer woke another receiver.)
 *
 * Permissions: net (the name servers; a local port).
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { sameQuestion } from "../packet/records.ts";
import { BITS3, HEADER, setUint16, uint16 } from "../packet/wire.ts";
import type { Exchange, ExchangeEvents, Server, Transport } from "./types.ts";

/** A socket gets no new questions after this many. */
export const QUESTIONS_PER_SOCKET = 500;
/** Nor after this time. */
export const SOCKET_LIFE_MS = 10_000;

interface Asked {
  readonly query: Uint8Array;
  readonly events: ExchangeEvents;
  readonly servers: Server[];
}

/** Opens UDP sockets when they are needed. */
export class UdpTransport implements Transport {
  /** Those that new questions leave by. */
  readonly #current: { v4: Socket | undefined; v6: Socket | undefined } = { v4: undefined, v6: undefined };
  /** All that are open. */
  readonly #sockets = new Set<Socket>();

  constructor(private readonly clock: Clock, private readonly log: Logger) {}

  start(query: Uint8Array, events: ExchangeEvents): Exchange {
    const asked: Asked = { query, events, servers: [] };
    const places: { socket: Socket; id: number }[] = [];
    return {
      ask: (server) => {
        const v6 = server.hostname.includes(":");
        let place = places.find(({ socket }) => socket.v6 === v6);
        if (place === undefined) {
          const socket = this.#socket(v6);
          if (typeof socket === "string") return events.failed(server, socket);
          place = { socket, id: socket.register(asked) };
          places.push(place);
        }
        if (!asked.servers.includes(server)) asked.servers.push(server);
        place.socket.send(place.id, asked, server);
      },
      close: () => places.forEach(({ socket, id }) => socket.forget(id)),
    };
  }

  /** The socket for a new question; what went wrong when there is none. */
  #socket(v6: boolean): Socket | string {
    const family = v6 ? "v6" : "v4";
    const socket = this.#current[family];
    if (socket !== undefined && socket.questions < QUESTIONS_PER_SOCKET && this.clock.monotonic() < socket.end) {
      return socket;
    }
    socket?.retire();
    this.#current[family] = undefined;
    try {
      const conn = Deno.listenDatagram({ transport: "udp", hostname: v6 ? "::" : "0.0.0.0", port: 0 });
      const opened = new Socket(conn, v6, this.clock.monotonic() + SOCKET_LIFE_MS, this.log, () => {
        this.#sockets.delete(opened);
        if (this.#current[family] === opened) this.#current[family] = undefined;
      });
      this.#sockets.add(opened);
      return this.#current[family] = opened;
    } catch (error) {
      return `no socket: ${text(error)}`;
    }
  }

  isOwn(port: number, packet: Uint8Array): boolean {
    for (const socket of this.#sockets) if (socket.port === port && socket.hasSent(packet)) return true;
    return false;
  }

  close(): void {
    for (const socket of this.#sockets) socket.close();
  }
}

class Socket {
  readonly #asked = new Map<number, Asked>();
  readonly #ids = new RandomIds();
  readonly port: number;
  questions = 0;
  #retired = false;

  constructor(
    private readonly conn: Deno.DatagramConn,
    readonly v6: boolean,
    readonly end: number,
    private readonly log: Logger,
    private readonly closed: () => void,
  ) {
    this.port = (conn.addr as Deno.NetAddr).port;
    void this.#receive();
  }

  /** Takes a random ID that is free on this socket. */
  register(asked: Asked): number {
    this.questions++;
    let id = this.#ids.next();
    while (this.#asked.has(id)) id = (id + 1) & 0xffff;
    this.#asked.set(id, asked);
    return id;
  }

  send(id: number, asked: Asked, server: Server): void {
    // The same bytes may go out by sockets of both families, under different IDs.
    const query = asked.query.slice();
    setUint16(query, 0, id);
    const to = { transport: "udp" as const, hostname: server.hostname, port: server.port };
    this.conn.send(query, to).catch((error) => {
      if (this.#asked.get(id) === asked) asked.events.failed(server, text(error));
    });
  }

  forget(id: number): void {
    this.#asked.delete(id);
    if (this.#retired && this.#asked.size === 0) this.close();
  }

  /** No new questions: closes when the last one is done. */
  retire(): void {
    this.#retired = true;
    if (this.#asked.size === 0) this.close();
  }

  hasSent(packet: Uint8Array): boolean {
    const asked = this.#asked.get(uint16(packet, 0));
    return asked !== undefined && sameQuestion(asked.query, packet);
  }

  close(): void {
    try {
      this.conn.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
    this.closed();
  }

  async #receive(): Promise<void> {
    const buffer = new Uint8Array(65535);
    for (;;) {
      try {
        const [message, from] = await this.conn.receive(buffer);
        this.#take(message, from as Deno.NetAddr);
      } catch (error) {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
        this.log.debug("upstream socket", { error });
        // An error of the network below concerns one packet; one of the socket would come again without end.
        if (!(error instanceof Deno.errors.ConnectionRefused)) return this.close();
      }
    }
  }

  #take(message: Uint8Array, from: Deno.NetAddr): void {
    if (message.length < HEADER || (message[2]! & BITS3.QR) === 0) return;
    const asked = this.#asked.get(uint16(message, 0));
    const server = asked?.servers.find((s) => s.port === from.port && s.hostname === from.hostname);
    if (asked === undefined || server === undefined || !sameQuestion(asked.query, message)) return;
    asked.events.answered(server, message);
  }
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

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
