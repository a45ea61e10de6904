/**
 * Questions to name servers over TCP: a connection for each, as clients use TCP only where UDP was too small.
 *
 * Permissions: net (the name servers).
 *
 * @module
 */
import { sameQuestion } from "../packet/records.ts";
import { BITS3, HEADER, uint16 } from "../packet/wire.ts";
import { frame, FrameReader, writeAll } from "../tcp_frames.ts";
import type { Exchange, ExchangeEvents, Server, Transport } from "./types.ts";

/** Opens a connection for every server that is asked. */
export class TcpTransport implements Transport {
  /** Questions under way, by local port. */
  readonly #asked = new Map<number, Uint8Array>();
  readonly #open = new Set<Deno.TcpConn>();

  start(query: Uint8Array, events: ExchangeEvents): Exchange {
    const own = query.slice();
    const end = new AbortController();
    return {
      ask: (server) => {
        this.#ask(own, server, end.signal).then(
          (message) => end.signal.aborted || events.answered(server, message),
          (error) =>
            end.signal.aborted || events.failed(server, error instanceof Error ? error.message : String(error)),
        );
      },
      close: () => end.abort(),
    };
  }

  async #ask(query: Uint8Array, server: Server, signal: AbortSignal): Promise<Uint8Array> {
    const conn = await Deno.connect({ ...server, signal });
    const port = conn.localAddr.port;
    const close = () => this.#close(conn);
    this.#open.add(conn);
    this.#asked.set(port, query);
    signal.addEventListener("abort", close, { once: true });
    try {
      signal.throwIfAborted();
      await writeAll(conn, frame(query));
      const message = await new FrameReader(conn).next();
      if (message === undefined) throw new Error("the connection ended before the answer");
      const fits = message.length >= HEADER && (message[2]! & BITS3.QR) !== 0 &&
        uint16(message, 0) === uint16(query, 0);
      if (!fits || !sameQuestion(query, message)) throw new Error("the answer is to another question");
      return message.slice();
    } finally {
      signal.removeEventListener("abort", close);
      this.#asked.delete(port);
      close();
    }
  }

  isOwn(port: number, packet: Uint8Array): boolean {
    const asked = this.#asked.get(port);
    return asked !== undefined && sameQuestion(asked, packet);
  }

  close(): void {
    for (const conn of this.#open) this.#close(conn);
  }

  #close(conn: Deno.TcpConn): void {
    if (this.#open.delete(conn)) conn.close();
  }
}
