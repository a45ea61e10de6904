/**
 * A method with one request and one response.
 *
 * @module
 */
import type { Call } from "./call.ts";
import type { CallHandler } from "./call_handler.ts";
import { Code } from "./codes.ts";
import { RpcError } from "./status.ts";

/** Sends one response to one request. */
export class UnaryHandler implements CallHandler {
  #asked = false;

  readonly #call: Call;
  readonly #answer: (request: Uint8Array, call: Call) => Uint8Array | Promise<Uint8Array>;

  constructor(call: Call, answer: (request: Uint8Array, call: Call) => Uint8Array | Promise<Uint8Array>) {
    this.#call = call;
    this.#answer = answer;
  }

  /** The request is answered at once, so that nothing is held for a client that does not end its side. */
  message(bytes: Uint8Array): void {
    if (this.#asked) throw new RpcError(Code.INTERNAL, "a second request on a unary call");
    this.#asked = true;
    // Others may read on from the buffer that the request lies in while the answer is made.
    const request = new Uint8Array(bytes); // `slice` of a Buffer copies nothing
    Promise.resolve().then(() => this.#answer(request, this.#call)).then((response) => {
      this.#call.send([response], false);
      this.#call.end();
    }, (error) => this.#call.fail(error));
  }

  halfClose(): void {
    if (!this.#asked) this.#call.end(Code.INTERNAL, "no request on a unary call");
  }
}
