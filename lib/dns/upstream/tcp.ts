/**
 * Questions to name servers over TCP, with a connection for each question: clients use TCP only where UDP was too
 * small. By `node:net`, for the same reason as the server (tcp_server.ts).
 *
 * Permissions: net (the name servers).
 *
 * @module
 */
import net from "node:net";
import { sameQuestion } from "../packet/records.ts";
import { BITS3, HEADER, uint16 } from "../packet/wire.ts";
import { frame, FrameParser } from "../packet/tcp_frames.ts";
import type { Exchange, ExchangeEvents, NameServer, UpstreamTransport } from "./transport.ts";

/** Opens a connection for every asked server. */
export class TcpTransport implements UpstreamTransport {
  /** Questions under way, by local port. */
  readonly #asked = new Map<number, Uint8Array>();
  readonly #open = new Set<net.Socket>();

  start(query: Uint8Array, events: ExchangeEvents): Exchange {
    const sockets: net.Socket[] = [];
    return {
      ask: (server) => void sockets.push(this.#ask(query, server, events)),
      close: () => sockets.forEach((socket) => socket.destroy()),
    };
  }

  #ask(query: Uint8Array, server: NameServer, events: ExchangeEvents): net.Socket {
    const socket = net.connect({ host: server.hostname, port: server.port, noDelay: true });
    const parser = new FrameParser();
    let port = 0;
    let reason = "the connection ended before the answer";
    this.#open.add(socket);
    socket.on("connect", () => {
      port = socket.localPort ?? 0;
      this.#asked.set(port, query);
      socket.write(frame(query));
    });
    socket.on("data", (part: Uint8Array) => {
      parser.push(part);
      const message = parser.next();
      if (message === undefined) return;
      if (isAnswer(query, message)) events.answered(server, message);
      else reason = "the answer is to another question";
      socket.destroy();
    });
    socket.on("error", (error) => (reason = error.message));
    socket.on("close", () => {
      this.#open.delete(socket);
      this.#asked.delete(port);
      // After an answer, and after the exchange was closed, no event is of use any more.
      events.failed(server, reason);
    });
    return socket;
  }

  isOwn(port: number, packet: Uint8Array): boolean {
    const asked = this.#asked.get(port);
    return asked !== undefined && sameQuestion(asked, packet);
  }

  close(): void {
    for (const socket of this.#open) socket.destroy();
  }
}

function isAnswer(query: Uint8Array, message: Uint8Array): boolean {
  return message.length >= HEADER && (message[2]! & BITS3.QR) !== 0 && uint16(message, 0) === uint16(query, 0) &&
    sameQuestion(query, message);
}
