/**
 * A Unix socket as a transport, on a socket of the runtime itself: `node:net` on Deno 2.8.3 closes the descriptor of a
 * Unix socket twice. The second close may hit a file that another thread has just opened (docs/decisions/0020).
 *
 * @module
 */
import type { Peer } from "./peer.ts";
import type { Transport, TransportReceiver } from "./transport.ts";

/** Bytes read at a time. Each connection holds a buffer of this size. */
const READ_SIZE = 16 * 1024;

/** A connected Unix socket. */
export class UnixTransport implements Transport {
  readonly peer: Peer;
  bytesRead = 0;
  bytesWritten = 0;
  destroyed = false;
  #receiver: TransportReceiver | undefined;
  #paused = false;
  #reading = false;
  #ending = false;
  #writing = false;
  readonly #queue: { bytes: Uint8Array; done: (error?: Error | null) => void }[] = [];

  readonly #connection: Deno.UnixConn;

  /** @param path the socket file of the connection */
  constructor(connection: Deno.UnixConn, path: string) {
    this.#connection = connection;
    this.peer = { address: path };
  }

  start(receiver: TransportReceiver): void {
    this.#receiver = receiver;
    this.#read();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#read();
  }

  write(bytes: Uint8Array, done: (error?: Error | null) => void): void {
    if (this.destroyed) return queueMicrotask(() => done(new Error("the transport is closed")));
    this.bytesWritten += bytes.length;
    this.#queue.push({ bytes, done });
    this.#drain();
  }

  end(): void {
    this.#ending = true;
    this.#drain();
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#receiver = undefined;
    closeBothWays(this.#connection);
    const error = new Error("the transport was closed");
    for (const { done } of this.#queue.splice(0)) done(error);
  }

  /** Reads until paused or closed. At most one loop runs. */
  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      const buffer = new Uint8Array(READ_SIZE);
      while (!this.#paused && !this.destroyed && this.#receiver !== undefined) {
        const length = await this.#connection.read(buffer);
        if (length === null) return this.#receiver?.close();
        this.bytesRead += length;
        this.#receiver?.data(buffer.slice(0, length));
      }
    } catch {
      // Reset by the remote end, or closed here while a read was under way.
      this.#receiver?.close();
    } finally {
      this.#reading = false;
    }
  }

  /** Writes the queued bytes in order; then ends if asked to. */
  async #drain(): Promise<void> {
    if (this.#writing) return;
    this.#writing = true;
    try {
      for (let item = this.#queue[0]; item !== undefined && !this.destroyed; item = this.#queue[0]) {
        for (let at = 0; at < item.bytes.length;) at += await this.#connection.write(item.bytes.subarray(at));
        // When the transport was destroyed meanwhile, the item is gone from the queue and has been called back.
        if (this.#queue[0] === item) this.#queue.shift()!.done();
      }
      if (this.#ending && !this.destroyed) await this.#connection.closeWrite();
    } catch {
      this.#receiver?.close();
      this.destroy();
    } finally {
      this.#writing = false;
    }
  }
}

/**
 * Closes a connection so that the client notices at once. On Deno 2.8.3 `close` alone leaves the descriptor open while
 * a read waits: until the client sends bytes or goes away.
 */
function closeBothWays(connection: Deno.UnixConn): void {
  connection.closeWrite().catch(() => {/* the client was gone before */});
  connection.close();
}
