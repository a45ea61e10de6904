import type { Peer } from "../../../lib/sockets/transport/peer.ts";
import type { Transport, TransportReceiver } from "../../../lib/sockets/transport/transport.ts";

/** A transport in memory: the test gives received bytes, and finds sent bytes. */
export class MemoryTransport implements Transport {
  readonly peer: Peer = { address: "memory" };
  readonly written: Uint8Array[] = [];
  bytesRead = 0;
  bytesWritten = 0;
  destroyed = false;
  ended = false;
  paused = false;
  #receiver: TransportReceiver | undefined;
  #waiting: (() => void)[] = [];
  #stopped = false;

  start(receiver: TransportReceiver): void {
    this.#receiver = receiver;
  }
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
  write(bytes: Uint8Array, done: (error?: Error) => void): void {
    this.written.push(bytes.slice()); // the sender may use its array again after the callback
    this.bytesWritten += bytes.length;
    if (this.#stopped) this.#waiting.push(done);
    else queueMicrotask(done);
  }
  end(): void {
    this.ended = true;
  }
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#receiver?.close();
  }

  /** Bytes from the remote end. */
  receive(bytes: Uint8Array): void {
    if (this.destroyed) return;
    this.bytesRead += bytes.length;
    this.#receiver?.data(bytes);
  }
  /** From now on the remote end takes nothing. */
  stopReading(): void {
    this.#stopped = true;
  }
  /** The remote end takes all waiting and coming bytes. */
  take(): void {
    this.#stopped = false;
    for (const done of this.#waiting.splice(0)) done();
  }
}
