/**
 * One HTTP/2 stream that a client has opened.
 *
 * @module
 */
import type { GrowingBuffer } from "../budget/growing_buffer.ts";
import type { HttpHeaders } from "../h2/headers.ts";
import type { SendQueue } from "../h2/outbound.ts";

/** The events of a stream; none comes after `close`. */
export interface ClientStreamListener {
  /** Headers of the response, later its trailers. */
  headers(headers: HttpHeaders): void;
  /** Bytes arrived: a view of a larger buffer. */
  data(bytes: Uint8Array): void;
  /** The stream is over. The reason is absent when the server has ended it in order. */
  close(reason?: string): void;
}

/** The interface of its connection to a stream. */
export interface ClientStreamHost {
  ready(stream: ClientStream): void;
  reset(stream: ClientStream): void;
}

export class ClientStream {
  closed = false;
  /** Bytes that the server may still send before its window is opened again. */
  receiveWindow: number;
  /** A header block that has not ended. */
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

  /** Queues bytes, which must not change. */
  write(bytes: Uint8Array): void {
    if (this.closed || this.queue.trailers !== undefined) return;
    this.queue.push(bytes, undefined);
    this.#host.ready(this);
  }

  /** Ends our side after all that is queued. */
  end(): void {
    if (this.closed || this.queue.trailers !== undefined) return;
    this.queue.trailers = new Uint8Array(0);
    this.#host.ready(this);
  }

  /** Breaks the stream off; its listener hears no more. */
  reset(): void {
    if (!this.closed) this.#host.reset(this);
  }
}
