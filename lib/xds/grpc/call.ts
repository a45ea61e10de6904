/**
 * One gRPC call on the server: messages in, messages out, a status at the end.
 *
 * Permissions: none (the HTTP/2 stream comes from outside).
 *
 * @module
 */
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { concatBytes } from "../../resource/block.ts";
import { ACCEPTED_ENCODINGS, frameHead, MessageReader } from "./frame.ts";
import type { Lane } from "./pacer.ts";
import { Code, encodeStatusMessage, parseTimeout, RpcError } from "./status.ts";

/** Chunks below this are joined before they are handed to http2: a write costs some 10 us, copying 16 KiB 2 us. */
const JOIN_BELOW = 16 * 1024;
/** Milliseconds that a client has to close its half of a call that has ended. */
const LINGER = 2000;
/** Largest chunk. */
const CHUNK = 64 * 1024;

/** Who is at the other end. */
export interface Peer {
  /** `address:port` of the socket. */
  readonly address: string;
  /** The socket: a `tls.TLSSocket` on a TLS listener, from which the peer's certificate can be read. */
  readonly socket: Socket;
}

/** What a handler does with a call. All callbacks are optional except `message`; after `close` none is called. */
export interface CallHandler {
  /** A message arrived. An {@linkcode RpcError} thrown here ends the call with its status, any other one as INTERNAL. */
  message(bytes: Uint8Array): void;
  /** The client has sent all its messages. Default: the call ends with OK. */
  halfClose?(): void;
  /** The call is over, for whatever reason; called exactly once. */
  close?(): void;
}

/** Settings of a call, from its server. */
export interface CallOptions {
  readonly maxMessageSize: number;
  readonly onError: (error: unknown, call: Call) => void;
}

/** A call under way. */
export class Call {
  /** Request headers, i.e. the call's metadata. */
  readonly headers: IncomingHttpHeaders;
  /** Whether the client takes messages compressed by gzip. */
  readonly acceptsGzip: boolean;
  readonly #reader: MessageReader;
  #handler: CallHandler | undefined;
  #early: Uint8Array[] = [];
  #halfClosed = false;
  #responded = false;
  #ended = false;
  #closed = false;
  #deadline: ReturnType<typeof setTimeout> | undefined;
  #linger: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    readonly peer: Peer,
    private readonly lane: Lane,
    private readonly options: CallOptions,
  ) {
    this.headers = headers;
    const offered = String(headers["grpc-accept-encoding"] ?? "");
    this.acceptsGzip = offered.split(",").some((encoding) => encoding.trim() === "gzip");
    const encoding = headers["grpc-encoding"] as string | undefined;
    this.#reader = new MessageReader(encoding, options.maxMessageSize);
    stream.on("data", (chunk: Uint8Array) => this.#receive(chunk));
    stream.on("end", () => this.#remoteEnd());
    stream.on("close", () => this.#close());
    // Resets and broken connections arrive as errors; `close` follows and tells the handler.
    stream.on("error", () => this.#close());
    if (encoding !== undefined && encoding !== "identity" && encoding !== "gzip") {
      this.end(Code.UNIMPLEMENTED, `grpc-encoding ${encoding} is not supported`);
      return;
    }
    try {
      const timeout = parseTimeout(headers["grpc-timeout"] as string | undefined);
      if (timeout !== undefined) this.#armDeadline(timeout);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Hands the call to its handler; messages that came before are delivered at once. */
  start(handler: CallHandler): void {
    this.#handler = handler;
    if (this.#closed) return handler.close?.();
    const early = this.#early;
    this.#early = [];
    this.#deliver(early);
    if (this.#halfClosed) this.#finishInput();
  }

  /** The call can take no more messages. */
  get closed(): boolean {
    return this.#closed || this.#ended;
  }

  /**
   * Sends one message made of several byte runs, without copying the large ones until the connection takes them.
   *
   * @param parts the runs, in order; with `compressed` each is a gzip member
   * @param compressed only when {@linkcode Call.acceptsGzip}
   * @param taken called when all of it has been handed to the connection
   */
  send(parts: readonly Uint8Array[], compressed: boolean, taken?: () => void): void {
    if (this.closed) return;
    this.#respond();
    let length = 0;
    for (const part of parts) length += part.length;
    const write = (chunk: Uint8Array) => {
      if (!this.#closed) this.stream.write(chunk);
    };
    const chunks = evenChunks([frameHead(length, compressed), ...parts]);
    chunks.forEach((chunk, i) => this.lane.push(chunk, write, i === chunks.length - 1 ? taken : undefined));
  }

  /** Ends the call with a status after all that was sent. */
  end(code: Code = Code.OK, message = ""): void {
    if (this.closed) return;
    this.#ended = true;
    clearTimeout(this.#deadline);
    const status = {
      "grpc-status": String(code),
      ...(message === "" ? {} : { "grpc-message": encodeStatusMessage(message) }),
    };
    if (!this.#responded) {
      this.#responded = true;
      this.#guard(() => this.stream.respond({ ...this.#responseHeaders(), ...status }, { endStream: true }));
      // A client that has not finished sending is told to stop (RFC 9113, section 8.1).
      this.#guard(() => this.stream.close(0));
      return;
    }
    this.stream.once("wantTrailers", () => {
      this.#guard(() => this.stream.sendTrailers(status));
      // A client that keeps its half open would keep the stream for ever; a reset at once could overtake the trailers.
      this.#linger = setTimeout(() => this.#guard(() => this.stream.close(0)), LINGER);
    });
    this.lane.push(new Uint8Array(0), () => this.#guard(() => this.stream.end()));
  }

  /** Ends the call with the status of an error. */
  fail(error: unknown): void {
    if (error instanceof RpcError) return this.end(error.code, error.message);
    this.options.onError(error, this);
    this.end(Code.INTERNAL, "internal error");
  }

  /** Breaks the call off with an HTTP/2 reset (8 = CANCEL). */
  reset(code = 8): void {
    this.#guard(() => this.stream.close(code));
    this.#close();
  }

  /** Sends the response headers now, if that has not happened; some clients wait for them. */
  respond(): void {
    if (!this.closed) this.#respond();
  }

  #respond(): void {
    if (this.#responded) return;
    this.#responded = true;
    this.#guard(() => this.stream.respond(this.#responseHeaders(), { waitForTrailers: true }));
  }

  #responseHeaders(): Record<string, string | number> {
    const headers: Record<string, string | number> = {
      ":status": 200,
      "content-type": "application/grpc",
      "grpc-accept-encoding": ACCEPTED_ENCODINGS,
    };
    if (this.acceptsGzip) headers["grpc-encoding"] = "gzip";
    return headers;
  }

  #receive(chunk: Uint8Array): void {
    if (this.closed) return;
    try {
      this.#deliver(this.#reader.push(chunk));
    } catch (error) {
      this.fail(error);
    }
  }

  #deliver(messages: Uint8Array[]): void {
    for (const message of messages) {
      if (this.closed) return;
      if (this.#handler === undefined) {
        this.#early.push(message);
        continue;
      }
      try {
        this.#handler.message(message);
      } catch (error) {
        this.fail(error);
      }
    }
  }

  #remoteEnd(): void {
    this.#halfClosed = true;
    if (this.#handler !== undefined) this.#finishInput();
  }

  #finishInput(): void {
    if (this.closed) return;
    if (!this.#reader.atBoundary) return this.end(Code.INTERNAL, "the stream ended inside a message");
    if (this.#handler?.halfClose !== undefined) this.#handler.halfClose();
    else this.end();
  }

  #armDeadline(timeout: number): void {
    // setTimeout takes at most 2^31 - 1 ms; a later deadline is none.
    if (timeout > 0x7fffffff) return;
    this.#deadline = setTimeout(() => this.end(Code.DEADLINE_EXCEEDED, "deadline exceeded"), timeout);
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#linger);
    this.#handler?.close?.();
  }

  /** http2 throws when a stream is already gone; that is not news, `close` has told or will tell. */
  #guard(action: () => void): void {
    if (this.stream.destroyed || this.stream.closed) return;
    try {
      action();
    } catch (error) {
      this.options.onError(error, this);
      this.#close();
    }
  }
}

/** Joins small parts and slices large ones, so that chunks are neither many nor more than a window can take. */
function evenChunks(parts: readonly Uint8Array[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  let size = 0;
  const flush = () => {
    if (small.length > 0) chunks.push(concatBytes(small));
    small = [];
    size = 0;
  };
  for (const part of parts) {
    const large = part.length >= JOIN_BELOW;
    if (size + part.length > CHUNK || (large && size === 0)) flush();
    if (large && size === 0) {
      for (let at = 0; at < part.length; at += CHUNK) chunks.push(part.subarray(at, at + CHUNK));
    } else {
      small.push(part);
      size += part.length;
    }
  }
  flush();
  return chunks;
}
