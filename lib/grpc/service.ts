/**
 * Services as plain data: what a server is given, and what reflection describes.
 *
 * @module
 */
import type { Call } from "./call.ts";
import { type UnaryAnswer, UnaryHandler } from "./unary.ts";

/** A service that a server offers. */
export interface GrpcService {
  /** Full name, e.g. `grpc.health.v1.Health`. */
  readonly name: string;
  readonly methods: readonly GrpcMethod[];
}

/** A method of a service. */
export interface GrpcMethod extends MethodShape {
  /** Takes a call: hands it to {@linkcode Call.start} now or later, or ends it. What it throws ends the call. */
  readonly handle: (call: Call) => void;
}

/** The message types of a method. */
export interface MethodShape {
  /** Name within its service, e.g. `Check`. */
  readonly name: string;
  /** Full name of the request message. */
  readonly input: string;
  /** Full name of the response message. */
  readonly output: string;
  /** The client sends any number of messages instead of one. Default false. */
  readonly clientStreaming?: boolean;
  /** The server sends any number of messages instead of one. Default false. */
  readonly serverStreaming?: boolean;
}

/** A method with one request and one response. */
export function unaryMethod(shape: MethodShape, answer: UnaryAnswer): GrpcMethod {
  return { ...shape, handle: (call) => call.start(new UnaryHandler(call, answer)) };
}
