/**
 * One gRPC call on the server: messages in, messages out, a status at the end.
 *
 * @module
 */
import type { RemoteTime } from "../sockets/patience.ts";
import type { Peer } from "../sockets/transport/peer.ts";
import { HELD_OVERHEAD, type HeldBytes, type IncompleteMessage } from "./budget/held.ts";
import type { CallHandler } from "./call_handler.ts";
import { Code } from "./codes.ts";
import { ACCEPTED_ENCODINGS, frameHead, isOwn, MessageReader } from "./frame.ts";
import type { HttpHeaders } from "./h2/headers.ts";
import { repeatedHeaders } from "./h2/hpack.ts";
import type { H2Stream } from "./h2/stream.ts";
import { encodeStatusMessage, parseTimeout, RpcError } from "./status.ts";

const PLAIN = {
  ":status": "200",
  "content-type": "application/grpc",
  "grpc-accept-encoding": ACCEPTED_ENCODINGS,
};
const RESPONSE = repeatedHeaders(PLAIN);
const GZIP_RESPONSE = repeatedHeaders({ ...PLAIN, "grpc-encoding": "gzip" });
const OK_STATUS = repeatedHeaders({ "grpc-status": String(Code.OK) });

/** The headers before the messages of a response. Encoded once for all responses. */
function responseHeaders(acceptsGzip: boolean): Readonly<HttpHeaders> {
  return acceptsGzip ? GZIP_RESPONSE : RESPONSE;
}

/** The headers after the messages. An empty message is left out. */
function statusHeaders(code: Code, message: string): Readonly<HttpHeaders> {
  if (message !== "") return { "grpc-status": String(code), "grpc-message": encodeStatusMessage(message) };
  return code === Code.OK ? OK_STATUS : { "grpc-status": String(code) };
}

/** Settings of a call, from the server. */
export interface CallOptions {
  readonly maxMessageSize: number;
  /** Counts the memory held by the call. */
  readonly held: HeldBytes;
  /** The clock for the client's time limits. */
  readonly time: RemoteTime;
  /** The first message has come. */
  readonly onFirstMessage: (call: Call) => void;
  readonly onError: (error: unknown, call: Call) => void;
  readonly onClose: (call: Call) => void;
}

/** A call under way. */
export class Call implements IncompleteMessage {
  /** Request headers, i.e. the call's metadata. */
  readonly headers: HttpHeaders;
  /** Whether the client takes messages compressed by gzip. */
  readonly acceptsGzip: boolean;
  readonly #reader: MessageReader;
  #handler: CallHandler | undefined;
  #early: Uint8Array[] = [];
  #earlySize = 0;
  #anyMessage = false;
  /** When the first byte of the unfinished message came. */
  #since = 0;
  /** {@linkcode IncompleteMessage}: bytes of messages that no handler has taken, and the cost of keeping them. */
  held = 0;
  #halfClosed = false;
  #paused = false;
  #responded = false;
  #ended = false;
  #closed = false;
  #deadline: ReturnType<typeof setTimeout> | undefined;
  #left: (() => void) | undefined;

  readonly #stream: H2Stream;
  readonly #options: CallOptions;

  constructor(
    stream: H2Stream,
    /** The remote end of the call's connection. */
    readonly peer: Peer,
    options: CallOptions,
  ) {
    this.#stream = stream;
    this.#options = options;
    const headers = this.headers = stream.headers;
    const offered = (headers["grpc-accept-encoding"] ?? "").split(",");
    this.acceptsGzip = offered.some((encoding) => encoding.trim() === "gzip");
    const encoding = headers["grpc-encoding"];
    this.#reader = new MessageReader(encoding, options.maxMessageSize);
    stream.listener = {
      data: (bytes) => this.#receive((each) => this.#reader.push(bytes, each)),
      unread: () => this.#reader.stopped,
      resume: () => this.#receive((each) => this.#reader.resume(each)),
      end: () => this.#remoteEnd(),
      close: () => this.#close(),
    };
    if (encoding !== undefined && encoding !== "identity" && encoding !== "gzip") {
      this.end(Code.UNIMPLEMENTED, `grpc-encoding ${encoding} is not supported`);
      return;
    }
    try {
      const timeout = parseTimeout(headers["grpc-timeout"]);
      if (timeout !== undefined) this.#armDeadline(timeout);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Calls `left` once if the call is over, or the server has ended it, before a handler has it. */
  onLeft(left: () => void): void {
    this.#left = left;
  }

  /** Hands the call to a handler. Earlier messages are delivered at once. */
  start(handler: CallHandler): void {
    this.#handler = handler;
    this.#left = undefined;
    if (this.#closed) return handler.close?.();
    this.#deliverKept();
  }

  /**
   * Keeps this message and all later messages until {@linkcode Call.resume}, within the limits of messages before the
   * start of a handler. The end of the client's messages waits, too. For handlers, inside `message`.
   *
   * @throws RpcError RESOURCE_EXHAUSTED beyond the limits
   */
  pause(message: Uint8Array): void {
    if (this.closed) return;
    this.#paused = true;
    this.#keep(message);
  }

  /** Delivers the messages kept since {@linkcode Call.pause}, beginning with the message given there. */
  resume(): void {
    this.#paused = false;
    this.#deliverKept();
  }

  #deliverKept(): void {
    const early = this.#early;
    this.#early = [];
    this.#earlySize = 0;
    for (const message of early) this.#deliver(message);
    this.#count();
    if (this.#halfClosed) this.#finishInput();
  }

  /** The call can take no more messages. */
  get closed(): boolean {
    return this.#closed || this.#ended;
  }

  /**
   * Sends a message made of several runs of bytes. Large runs are not copied before the connection takes the bytes.
   *
   * @param parts the runs, in order; with `compressed` each is a gzip member
   * @param compressed only when {@linkcode Call.acceptsGzip}
   * @param taken called when the whole message has been handed to the connection
   */
  send(parts: readonly Uint8Array[], compressed: boolean, taken?: () => void): void {
    if (this.closed) return;
    this.#respond();
    let length = 0;
    for (const part of parts) length += part.length;
    this.#stream.writeAll([frameHead(length, compressed), ...parts], taken);
  }

  /** Ends the call with a status, after everything already sent. */
  end(code: Code = Code.OK, message = ""): void {
    if (this.closed) return;
    this.#ended = true;
    clearTimeout(this.#deadline);
    this.#count();
    const status = statusHeaders(code, message);
    if (!this.#responded) {
      this.#responded = true;
      this.#stream.respond({ ...responseHeaders(this.acceptsGzip), ...status }, true);
    } else this.#stream.end(status);
    this.#leave();
  }

  /** Ends the call with the status of an error. */
  fail(error: unknown): void {
    if (error instanceof RpcError) return this.end(error.code, error.message);
    this.#options.onError(error, this);
    this.end(Code.INTERNAL, "internal error");
  }

  /** Breaks the call off with an HTTP/2 reset (8 = CANCEL). */
  reset(code = 8): void {
    this.#stream.reset(code);
  }

  /** Sends the response headers now, unless already sent. Some clients wait for the headers. */
  respond(): void {
    if (!this.closed) this.#respond();
  }

  #respond(): void {
    if (this.#responded) return;
    this.#responded = true;
    this.#stream.respond(responseHeaders(this.acceptsGzip));
  }

  /** {@linkcode IncompleteMessage}: milliseconds since the first byte of the unfinished message. */
  get age(): number {
    return this.#options.time.now - this.#since;
  }

  /** {@linkcode IncompleteMessage}: bytes of messages when all are complete. */
  get expected(): number {
    return Math.max(this.held, this.#reader.expected + this.#earlySize);
  }

  /** Ends the call because a part of a message has been held for too long. */
  abandon(reason: string): void {
    this.end(Code.RESOURCE_EXHAUSTED, reason);
  }

  /** Reads up to the end of one message: unpacking a few hundred messages takes long, and other connections wait. */
  #receive(read: (each: (message: Uint8Array) => boolean) => void): void {
    if (this.closed) return;
    let complete = false;
    try {
      read((message) => {
        complete = true;
        this.#deliver(message);
        return false;
      });
    } catch (error) {
      this.fail(error);
    }
    this.#count(complete);
  }

  #deliver(message: Uint8Array): void {
    if (this.closed) return;
    if (!this.#anyMessage) {
      this.#anyMessage = true;
      this.#options.onFirstMessage(this);
    }
    try {
      if (this.#handler === undefined || this.#paused) this.#keep(message);
      else this.#handler.message(message);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Counts the memory held now. */
  #count(complete = false): void {
    if (this.closed) {
      this.#reader.clear();
      this.#early = [];
      this.#earlySize = 0;
    }
    const bytes = this.#reader.capacity + this.#earlySize;
    const held = bytes === 0 || this.closed ? 0 : bytes + HELD_OVERHEAD;
    if (held > 0 && (this.held === 0 || complete)) this.#since = this.#options.time.now;
    const by = held - this.held;
    this.held = held;
    const { messages } = this.#options.held;
    if (held > 0) messages.add(this);
    else messages.delete(this);
    if (by !== 0) this.#options.held.addOfMessage(by);
  }

  /**
   * Keeps a message that comes before the handler takes any. All kept messages together may be as large as one message.
   */
  #keep(message: Uint8Array): void {
    this.#earlySize += message.length;
    if (this.#earlySize > this.#options.maxMessageSize || this.#early.length >= 1000) {
      throw new RpcError(Code.RESOURCE_EXHAUSTED, "too much sent before the call was served");
    }
    this.#early.push(isOwn(message) ? message : message.slice());
  }

  #remoteEnd(): void {
    this.#halfClosed = true;
    if (this.#handler !== undefined) this.#finishInput();
  }

  #finishInput(): void {
    if (this.closed || this.#paused) return;
    if (this.#reader.held > 0) return this.end(Code.INTERNAL, "the stream ended inside a message");
    if (this.#handler?.halfClose !== undefined) this.#handler.halfClose();
    else this.end();
  }

  #armDeadline(timeout: number): void {
    // setTimeout takes at most 2^31 - 1 ms. A later deadline is ignored.
    if (timeout > 0x7fffffff) return;
    this.#deadline = setTimeout(() => this.end(Code.DEADLINE_EXCEEDED, "deadline exceeded"), timeout);
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#deadline);
    this.#count();
    this.#options.onClose(this);
    this.#leave();
    this.#handler?.close?.();
  }

  #leave(): void {
    const left = this.#left;
    this.#left = undefined;
    left?.();
  }
}
