/**
 * TCP and TLS sockets of `node:net` and `node:tls` as transports.
 *
 * @module
 */
import type { Socket } from "node:net";
import { discard } from "./discard.ts";
import type { Peer, TlsState } from "./peer.ts";
import type { Transport, TransportReceiver } from "./transport.ts";

/** A connected socket. Bytes that were read before must have been unshifted. */
export class SocketTransport implements Transport {
  readonly peer: Peer;
  readonly #socket: Socket;

  /** @param tls the facts proven by the handshake, on a TLS socket */
  constructor(socket: Socket, tls?: TlsState) {
    this.#socket = socket;
    const address = `${socket.remoteAddress ?? "?"}:${socket.remotePort ?? "?"}`;
    this.peer = tls === undefined ? { address } : { address, tls };
    socket.setNoDelay(true);
  }

  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  get bytesWritten(): number {
    return this.#socket.bytesWritten;
  }

  get destroyed(): boolean {
    return this.#socket.destroyed;
  }

  start(receiver: TransportReceiver): void {
    const socket = this.#socket;
    socket.on("data", (chunk: Uint8Array) => receiver.data(chunk));
    for (const event of ["end", "error", "close"]) socket.on(event, () => receiver.close());
    socket.resume();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#socket.destroyed) this.#socket.resume();
  }

  write(bytes: Uint8Array, done: (error?: Error | null) => void): void {
    this.#socket.write(bytes, done);
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    discard(this.#socket);
  }
}
