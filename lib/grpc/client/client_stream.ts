/**
 * An HTTP/2 stream opened by a client.
 *
 * @module
 */
import type { GrowingBuffer } from "../budget/growing_buffer.ts";
import type { HttpHeaders } from "../h2/headers.ts";
import type { SendQueue } from "../h2/outbound.ts";

/** The events of a stream; none comes after `close`. */
export interface ClientStreamListener {
  /** Headers of the response, later the trailers. */
  headers(headers: HttpHeaders): void;
  /** Bytes arrived: a view of a larger buffer. */
  data(bytes: Uint8Array): void;
  /** The stream is over. Without a reason: the server has ended the stream in order. */
  close(reason?: string): void;
}

/** The connection, as a stream sees it. */
export interface ClientStreamHost {
  ready(stream: ClientStream): void;
  reset(stream: ClientStream): void;
}

/** The client's side of a stream. */
export class ClientStream {
  closed = false;
  /** Bytes that the server may still send before the window is opened again. */
  receiveWindow: number;
  /** An unfinished header block. */
  block: { readonly bytes: GrowingBuffer; readonly ended: boolean } | undefined;
  readonly #host: ClientStreamHost;

  constructor(
    readonly id: number,
    readonly queue: SendQueue,
    readonly listener: ClientStreamListener,
    receiveWindow: number,
    host: ClientStreamHost,
  ) {
    this.receiveWindow = receiveWindow;
    this.#host = host;
  }

  /** Queues bytes. The bytes must not change. */
  write(bytes: Uint8Array): void {
    if (this.closed || this.queue.trailers !== undefined) return;
    this.queue.push(bytes, undefined);
    this.#host.ready(this);
  }

  /** Ends our side after the queued bytes. */
  end(): void {
    if (this.closed || this.queue.trailers !== undefined) return;
    this.queue.trailers = new Uint8Array(0);
    this.#host.ready(this);
  }

  /** Breaks the stream off. The listener hears nothing more. */
  reset(): void {
    if (!this.closed) this.#host.reset(this);
  }
}
