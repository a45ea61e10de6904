/**
 * A method with one request and one response.
 *
 * @module
 */
import type { Call, CallHandler } from "./call.ts";
import { Code } from "./codes.ts";
import { RpcError } from "./status.ts";

/** Collects one request and sends one response. */
export class UnaryHandler implements CallHandler {
  #request: Uint8Array | undefined;

  constructor(
    private readonly call: Call,
    private readonly answer: (request: Uint8Array, call: Call) => Uint8Array | Promise<Uint8Array>,
  ) {}

  message(bytes: Uint8Array): void {
    if (this.#request !== undefined) throw new RpcError(Code.INTERNAL, "a second request on a unary call");
    this.#request = bytes;
  }

  halfClose(): void {
    const request = this.#request;
    if (request === undefined) return this.call.end(Code.INTERNAL, "no request on a unary call");
    Promise.resolve().then(() => this.answer(request, this.call)).then((response) => {
      this.call.send([response], false);
      this.call.end();
    }, (error) => this.call.fail(error));
  }
}
