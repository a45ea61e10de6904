/**
 * An endpoint picker for tests. It speaks the Endpoint Picker Protocol of the Gateway API's Inference Extension, and picks
 * as the conformance suite of the extension asks:
 *
 * - A request with a body gets the endpoints of the header `test-epp-endpoint-selection`, addresses or addresses with
 *   ports. Endpoints that are not the pool's are left out. If none is left, the request is answered with 503.
 * - A request without a body gets any endpoint of the pool.
 * - The answer has the header `x-conformance-test-served-endpoint`, the endpoint that has answered, as the proxy reports it.
 *
 * @module
 */
import type { Call } from "../../../lib/grpc/call.ts";
import type { CallHandler } from "../../../lib/grpc/call_handler.ts";
import type { GrpcService } from "../../../lib/grpc/service.ts";
import {
  bodyAnswer,
  headersAnswer,
  PICKED,
  type Received,
  received,
  refusalAnswer,
  trailersAnswer,
} from "./messages.ts";

/** The header with the wanted endpoints. */
export const WANTED = "test-epp-endpoint-selection";

/** The header of answers with the endpoint that has answered. */
export const ANSWERED = "x-conformance-test-served-endpoint";

/** The present endpoints of a pool, addresses with ports. */
export type PoolEndpoints = () => readonly string[] | Promise<readonly string[]>;

/** The service of a picker. */
export function pickerService(endpoints: PoolEndpoints): GrpcService {
  return {
    name: "envoy.service.ext_proc.v3.ExternalProcessor",
    methods: [{
      name: "Process",
      input: "envoy.service.ext_proc.v3.ProcessingRequest",
      output: "envoy.service.ext_proc.v3.ProcessingResponse",
      ...{ clientStreaming: true, serverStreaming: true },
      handle: (call) => call.start(new Conversation(call, endpoints)),
    }],
  };
}

/** The endpoints for a request, in order; empty: none fits. */
export function picked(wanted: string | undefined, hasBody: boolean, endpoints: readonly string[]): readonly string[] {
  if (wanted === undefined || wanted === "") {
    const any = endpoints[Math.floor(Math.random() * endpoints.length)];
    return hasBody || any === undefined ? [] : [any];
  }
  const texts = wanted.split(",").map((text) => text.trim());
  const found = texts.flatMap((text) =>
    endpoints.find((one) => one === text || one.slice(0, one.lastIndexOf(":")) === text) ?? []
  );
  return [...new Set(found)];
}

/** The conversation about one request. */
class Conversation implements CallHandler {
  readonly #call: Call;
  readonly #endpoints: PoolEndpoints;
  #headers: Readonly<Record<string, string>> = {};
  /** The request's parts behind its headers, until the request is whole. */
  readonly #kept: Uint8Array[] = [];
  /** One message after the other. */
  #done: Promise<void> = Promise.resolve();

  constructor(call: Call, endpoints: PoolEndpoints) {
    this.#call = call;
    this.#endpoints = endpoints;
  }

  message(bytes: Uint8Array): void {
    const got = received(new Uint8Array(bytes));
    if (got === undefined) return;
    this.#done = this.#done.then(() => this.#take(got)).catch((error) => this.#call.fail(error));
  }

  halfClose(): void {
    void this.#done.then(() => this.#call.end());
  }

  async #take(got: Received): Promise<void> {
    if (got.side === "response") return this.#say(answered(got));
    const { part } = got;
    switch (part.kind) {
      case "headers":
        this.#headers = part.headers;
        return part.last ? await this.#pick(false) : undefined;
      case "body":
        this.#kept.push(bodyAnswer("request", part.body, part.last));
        return part.last ? await this.#pick(true) : undefined;
      case "trailers":
        this.#kept.push(trailersAnswer("request"));
        return await this.#pick(true);
    }
  }

  async #pick(hasBody: boolean): Promise<void> {
    const choice = picked(this.#headers[WANTED], hasBody, await this.#endpoints()).join(",");
    if (choice === "") return this.#say(refusalAnswer(503));
    this.#say(headersAnswer("request", { [PICKED]: choice }, choice), ...this.#kept.splice(0));
  }

  #say(...answers: readonly Uint8Array[]): void {
    for (const answer of answers) this.#call.send([answer], false);
  }
}

/** The answer to a part of a response. */
function answered({ side, part, served }: Received): Uint8Array {
  switch (part.kind) {
    case "headers":
      return headersAnswer(side, { [ANSWERED]: served === "" ? "unknown" : served });
    case "body":
      return bodyAnswer(side, part.body, part.last);
    case "trailers":
      return trailersAnswer(side);
  }
}
