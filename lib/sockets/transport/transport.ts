/**
 * The byte stream below a server, the same for TCP, TLS and Unix sockets.
 *
 * @module
 */
import type { Peer } from "./peer.ts";

/** Receives the bytes and events of a transport. */
export interface TransportReceiver {
  /** Bytes arrived; the buffer is the receiver's from now on. */
  data(bytes: Uint8Array): void;
  /** The remote end has finished or is gone, or the transport failed. May be called several times. */
  close(): void;
}

/** A connected, two-way byte stream. */
export interface Transport {
  readonly peer: Peer;
  /** Bytes received so far. */
  readonly bytesRead: number;
  /** Bytes handed to {@linkcode Transport.write} so far. */
  readonly bytesWritten: number;
  /** Whether the transport can no longer send or receive. */
  readonly destroyed: boolean;
  /** Begins to read; called once. */
  start(receiver: TransportReceiver): void;
  /** Stops reading until {@linkcode Transport.resume}. Bytes that were already read may still arrive. */
  pause(): void;
  /** Reads again. */
  resume(): void;
  /**
   * Sends bytes. The bytes must not change meanwhile.
   *
   * @param done called when the kernel has taken the bytes, or with an error when it never will
   */
  write(bytes: Uint8Array, done: (error?: Error | null) => void): void;
  /** Sends the written bytes, then ends the sending direction of the connection. */
  end(): void;
  /** Closes at once, drops unsent bytes, and releases the receiver. */
  destroy(): void;
}
