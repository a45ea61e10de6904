/**
 * One gRPC call of a client: messages out, messages in, a status at the end.
 *
 * @module
 */
import { Code, codeName } from "../codes.ts";
import { ACCEPTED_ENCODINGS, frameHead, MessageReader } from "../frame.ts";
import type { HttpHeaders } from "../h2/headers.ts";
import { RpcError } from "../status.ts";
import type { ClientConnection } from "./client_connection.ts";
import type { ClientStream } from "./client_stream.ts";

/** The events of a call. */
export interface ClientCallListener {
  /** A message arrived; the bytes may be a view of a larger buffer. */
  message(bytes: Uint8Array): void;
  /** The call is over; called exactly once, also after {@linkcode ClientCall.cancel}. */
  end(status: RpcError | undefined): void;
}

/** Inputs of a call. */
export interface ClientCallOptions {
  /** The requested host: `:authority`. */
  readonly authority: string;
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Largest message taken, in bytes, unpacked. Default 4 MiB. */
  readonly maxMessageSize?: number;
  /** Whether the connection is encrypted. */
  readonly secure?: boolean;
}

/** A call under way. */
export class ClientCall {
  readonly #stream: ClientStream;
  readonly #listener: ClientCallListener;
  readonly #maxMessageSize: number;
  #reader: MessageReader | undefined;
  #headers: HttpHeaders | undefined;
  #trailers: HttpHeaders | undefined;
  #over = false;

  constructor(connection: ClientConnection, options: ClientCallOptions, listener: ClientCallListener) {
    this.#listener = listener;
    this.#maxMessageSize = options.maxMessageSize ?? 4 * 1024 * 1024;
    const headers = {
      ":method": "POST",
      ":scheme": options.secure ? "https" : "http",
      ":path": options.path,
      ":authority": options.authority,
      "content-type": "application/grpc",
      te: "trailers",
      "user-agent": "mesh-grpc",
      "grpc-accept-encoding": ACCEPTED_ENCODINGS,
      ...options.metadata,
    };
    this.#stream = connection.open(headers, {
      headers: (received) => this.#received(received),
      data: (bytes) => this.#data(bytes),
      close: (reason) => this.#finish(reason === undefined ? this.#status() : unavailable(reason)),
    });
  }

  /** Sends a message; the bytes must not change. */
  send(message: Uint8Array): void {
    this.#stream.write(frameHead(message.length, false));
    this.#stream.write(message);
  }

  /** No more messages follow. */
  halfClose(): void {
    this.#stream.end();
  }

  /** Gives the call up. */
  cancel(reason = "cancelled by the client"): void {
    this.#stream.reset();
    this.#finish(new RpcError(Code.CANCELLED, reason));
  }

  #received(headers: HttpHeaders): void {
    if (this.#headers === undefined) {
      // Informational responses come before the real response.
      if (/^1\d\d$/.test(headers[":status"] ?? "")) return;
      this.#headers = headers;
      this.#reader = new MessageReader(headers["grpc-encoding"], this.#maxMessageSize);
      if (headers["grpc-status"] !== undefined) this.#trailers = headers;
    } else this.#trailers = headers;
  }

  #data(bytes: Uint8Array): void {
    if (this.#over) return;
    if (this.#reader === undefined) return this.#fail(new RpcError(Code.INTERNAL, "data before headers"));
    if (this.#headers?.[":status"] !== "200") return;
    try {
      this.#reader.push(bytes, (message) => {
        if (!this.#over) this.#listener.message(message);
        return true;
      });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      this.#fail(error);
    }
  }

  #fail(error: RpcError): void {
    this.#stream.reset();
    this.#finish(error);
  }

  #status(): RpcError | undefined {
    const trailers = this.#trailers;
    const text = trailers?.["grpc-status"];
    if (trailers === undefined || text === undefined) {
      const status = this.#headers?.[":status"] ?? "none";
      return new RpcError(httpCode(status), `no grpc-status; HTTP status ${status}`);
    }
    const code = Number(text);
    if (code === Code.OK) return undefined;
    const known = codeName(code).startsWith("Code(") ? Code.UNKNOWN : code as Code;
    return new RpcError(known, decodeMessage(trailers["grpc-message"] ?? ""));
  }

  #finish(status: RpcError | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#reader?.clear();
    this.#listener.end(status);
  }
}

/**
 * Makes a call with one request and one response.
 *
 * @param timeout milliseconds until the call is given up
 * @throws RpcError with the status of the call
 */
export function callUnary(
  connection: ClientConnection,
  options: ClientCallOptions,
  request: Uint8Array,
  timeout: number,
): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  let response: Uint8Array | undefined;
  const metadata = { ...options.metadata, "grpc-timeout": `${Math.ceil(timeout)}m` };
  const call = new ClientCall(connection, { ...options, metadata }, {
    message: (bytes) => response = new Uint8Array(bytes),
    end(status) {
      clearTimeout(timer);
      if (status !== undefined) reject(status);
      else if (response === undefined) reject(new RpcError(Code.INTERNAL, "no response"));
      else resolve(response);
    },
  });
  const timer = setTimeout(() => {
    reject(new RpcError(Code.DEADLINE_EXCEEDED, `no answer within ${timeout / 1000} s`));
    call.cancel();
  }, timeout);
  call.send(request);
  call.halfClose();
  return promise;
}

function unavailable(reason: string): RpcError {
  return new RpcError(Code.UNAVAILABLE, reason);
}

/** Rule: https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md */
function httpCode(status: string): Code {
  switch (status) {
    case "400":
      return Code.INTERNAL;
    case "401":
      return Code.UNAUTHENTICATED;
    case "403":
      return Code.PERMISSION_DENIED;
    case "404":
      return Code.UNIMPLEMENTED;
    case "429":
    case "502":
    case "503":
    case "504":
      return Code.UNAVAILABLE;
    default:
      return Code.UNKNOWN;
  }
}

function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
