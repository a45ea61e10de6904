/**
 * One HTTP/2 stream on the server.
 *
 * @module
 */
import { ErrorCode } from "./constants.ts";
import type { HeaderList, HttpHeaders } from "./headers.ts";
import type { SendQueue } from "./outbound.ts";

/** The events of a stream; none comes after `close`. */
export interface StreamListener {
  /** Bytes arrived. */
  data(bytes: Uint8Array): void;
  /** Whether some of the bytes are not worked off yet. Absent: never. */
  unread?(): boolean;
  /** Continues to work off the bytes. Called until nothing is left, before anything else of the connection is read. */
  resume?(): void;
  /** The peer has sent all. */
  end(): void;
  /** The stream is over; called exactly once. */
  close(): void;
}

/** The connection, as a stream sees it. */
export interface StreamHost {
  sendHeaders(stream: H2Stream, headers: Readonly<Record<string, string>>, endStream: boolean): void;
  sendReady(stream: H2Stream): void;
  sendEnd(stream: H2Stream, headers: Readonly<Record<string, string>>): void;
  sendReset(stream: H2Stream, code: number): void;
}

/** A stream opened by a client. */
export class H2Stream {
  listener: StreamListener | undefined;
  /** The peer has sent END_STREAM. */
  remoteEnded = false;
  /** We have sent END_STREAM. */
  localEnded = false;
  closed = false;
  /** Received bytes of content. */
  received = 0;
  /** Bytes that the client may still send before the window is opened again. */
  receiveWindow: number;
  readonly headers: HttpHeaders;
  /** Size of the headers, in bytes. */
  readonly headerSize: number;

  readonly #host: StreamHost;

  constructor(
    readonly id: number,
    { headers, size }: Pick<HeaderList, "headers" | "size">,
    readonly queue: SendQueue,
    receiveWindow: number,
    host: StreamHost,
  ) {
    this.#host = host;
    this.headers = headers;
    this.headerSize = size;
    this.receiveWindow = receiveWindow;
  }

  /** Whether the content is at most as large as `content-length` says, and exactly as large at the end. */
  lengthFits(ended: boolean): boolean {
    const announced = this.headers["content-length"];
    if (announced === undefined) return true;
    return ended ? this.received === Number(announced) : this.received <= Number(announced);
  }

  /** Sends response headers. */
  respond(headers: Readonly<Record<string, string>>, endStream = false): void {
    if (!this.closed && !this.localEnded) this.#host.sendHeaders(this, headers, endStream);
  }

  /** Queues bytes. The bytes must not change. `taken` is called when all bytes have been handed to the socket. */
  write(bytes: Uint8Array, taken?: () => void): void {
    this.writeAll([bytes], taken);
  }

  /** The same for at least one run of bytes: a response of a hundred runs is queued in one step. */
  writeAll(runs: readonly Uint8Array[], taken?: () => void): void {
    if (this.closed || this.localEnded) return;
    const last = runs.length - 1;
    for (let i = 0; i <= last; i++) this.queue.push(runs[i]!, i === last ? taken : undefined);
    this.#host.sendReady(this);
  }

  /** Ends the stream after the queued bytes, with or without trailers. */
  end(trailers: Readonly<Record<string, string>> = {}): void {
    if (!this.closed && !this.localEnded) this.#host.sendEnd(this, trailers);
  }

  /** Breaks the stream off. */
  reset(code: number = ErrorCode.CANCEL): void {
    if (!this.closed) this.#host.sendReset(this, code);
  }
}
