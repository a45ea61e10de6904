/**
 * Services as plain data, for servers and for reflection.
 *
 * @module
 */
import type { Call } from "./call.ts";
import type { CallHandler } from "./call_handler.ts";
import { Code } from "./codes.ts";
import { RpcError } from "./status.ts";

/**
 * Answers a request. A thrown RpcError is the status of the call.
 *
 * @param left Aborts when the call ends without an answer, so that nobody works for a client that has left.
 */
type UnaryAnswer = (request: Uint8Array, call: Call, left: AbortSignal) => Uint8Array | Promise<Uint8Array>;

/** Sends one response to one request. */
class UnaryHandler implements CallHandler {
  #asked = false;
  #answered = false;
  readonly #left = new AbortController();

  readonly #call: Call;
  readonly #answer: UnaryAnswer;

  constructor(call: Call, answer: UnaryAnswer) {
    this.#call = call;
    this.#answer = answer;
  }

  /**
   * The request is answered at once, without waiting for the end of the client's side, so that nothing is held for a
   * client that never ends.
   */
  message(bytes: Uint8Array): void {
    if (this.#asked) throw new RpcError(Code.INTERNAL, "a second request on a unary call");
    this.#asked = true;
    // While the answer is made, the buffer of the request may be read further.
    const request = new Uint8Array(bytes); // `slice` of a Buffer copies nothing
    Promise.resolve().then(() => this.#answer(request, this.#call, this.#left.signal)).then((response) => {
      this.#answered = true;
      this.#call.send([response], false);
      this.#call.end();
    }, (error) => this.#call.fail(error));
  }

  /** The client has left, or the call is over. */
  close(): void {
    if (!this.#answered) this.#left.abort(new Error("the caller has left"));
  }

  halfClose(): void {
    if (!this.#asked) this.#call.end(Code.INTERNAL, "no request on a unary call");
  }
}

/** A service of a server. */
export interface GrpcService {
  /** Full name, e.g. `grpc.health.v1.Health`. */
  readonly name: string;
  readonly methods: readonly GrpcMethod[];
}

/** A method of a service. */
export interface GrpcMethod extends MethodShape {
  /**
   * Takes a call: hands the call to {@linkcode Call.start} now or later, or ends the call. An exception ends the call.
   */
  readonly handle: (call: Call) => void;
  /** Largest message of a client, in bytes, if larger than the server's limit. The handler may refuse smaller ones. */
  readonly maxMessageSize?: number;
}

/** The message types of a method. */
export interface MethodShape {
  /** Name within the service, e.g. `Check`. */
  readonly name: string;
  /** Full name of the request message. */
  readonly input: string;
  /** Full name of the response message. */
  readonly output: string;
  /** The client sends any number of messages, not just one. Default false. */
  readonly clientStreaming?: boolean;
  /** The server sends any number of messages, not just one. Default false. */
  readonly serverStreaming?: boolean;
}

/** A method with a single request and a single response. */
export function unaryMethod(shape: MethodShape, answer: UnaryAnswer): GrpcMethod {
  return { ...shape, handle: (call) => call.start(new UnaryHandler(call, answer)) };
}
