/**
 * Connections for whole messages, for substitutes of databases and their clients.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import { concatBytes as concat } from "../../../lib/resource/block.ts";

/** Length of the first message in the bytes. Undefined when more bytes are needed to know the length. */
export type Measure = (bytes: Uint8Array) => number | undefined;

/** One end of a connection for messages. */
export class MessageConnection implements Disposable {
  #rest: Uint8Array = new Uint8Array();

  constructor(private readonly connection: Deno.Conn, private readonly measure: Measure) {}

  /** Connects to a port of the loopback. */
  static async dial(port: number, measure: Measure): Promise<MessageConnection> {
    return new MessageConnection(await Deno.connect({ hostname: "127.0.0.1", port }), measure);
  }

  async send(message: Uint8Array): Promise<void> {
    for (let rest = message; rest.length > 0;) rest = rest.subarray(await this.connection.write(rest));
  }

  /** The next message, whole; undefined when the other end closes. */
  async next(): Promise<Uint8Array | undefined> {
    for (const bytes = new Uint8Array(4096);;) {
      const length = this.measure(this.#rest);
      if (length !== undefined && length <= this.#rest.length) {
        const message = this.#rest.slice(0, length);
        this.#rest = this.#rest.slice(length);
        return message;
      }
      const read = await this.connection.read(bytes);
      if (read === null) return undefined;
      this.#rest = concat([this.#rest, bytes.subarray(0, read)]);
    }
  }

  [Symbol.dispose](): void {
    this.connection.close();
  }
}

/** A server with a conversation per connection, on a free loopback port. */
export function serveMessages(
  measure: Measure,
  converse: (client: MessageConnection) => Promise<void>,
): Disposable & { readonly port: number } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  void (async () => {
    for await (const connection of listener) {
      const client = new MessageConnection(connection, measure);
      // A client that disconnects ends only its own conversation.
      void converse(client).catch(() => {}).finally(() => client[Symbol.dispose]());
    }
  })();
  return { port: listener.addr.port, [Symbol.dispose]: () => listener.close() };
}
