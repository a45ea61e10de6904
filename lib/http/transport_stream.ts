/**
 * A transport as a stream of Node, for the HTTP/1 parser of `node:http`.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";
import type { Transport } from "../sockets/transport/transport.ts";

/** See the module. Its reader slows the transport down, and so does the transport its writer. */
export class TransportStream extends Duplex {
  readonly #transport: Transport;
  #started = false;

  constructor(transport: Transport) {
    super({ allowHalfOpen: true });
    this.#transport = transport;
  }

  override _read(): void {
    if (this.#started) return this.#transport.resume();
    this.#started = true;
    this.#transport.start({
      data: (bytes) => {
        if (!this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))) this.#transport.pause();
      },
      close: () => void (this.readableEnded || this.push(null)),
    });
  }

  override _write(bytes: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    this.#transport.write(bytes, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#transport.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#transport.destroy();
    done(error);
  }
}
