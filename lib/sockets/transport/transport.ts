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
  /** It can neither send nor receive any more. */
  readonly destroyed: boolean;
  /** Begins to read; called once. */
  start(receiver: TransportReceiver): void;
  /** Stops reading until {@linkcode Transport.resume}; a few bytes that were read already may still arrive. */
  pause(): void;
  /** Reads again. */
  resume(): void;
  /**
   * Sends bytes, which must not change meanwhile.
   *
   * @param done called when the kernel has taken them, or with an error when it never will
   */
  write(bytes: Uint8Array, done: (error?: Error | null) => void): void;
  /** Sends the written bytes, then ends this direction of the connection. */
  end(): void;
  /** Closes at once, drops unsent bytes, and releases the receiver. */
  destroy(): void;
}
