/**
 * The health service for gRPC load balancers and probes, `grpc.health.v1.Health`: one status for each service, and one
 * for the whole server under the empty name.
 *
 * Rule: https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 *
 * @module
 */
import { utf8Text, WireCursor, WireError } from "../resource/protowire.ts";
import type { Call } from "./call.ts";
import type { CallHandler } from "./call_handler.ts";
import { Code } from "./codes.ts";
import { MessageWriter } from "./message_writer.ts";
import { type GrpcService, unaryMethod } from "./service.ts";
import { RpcError } from "./status.ts";

/** Whether a service takes calls. */
export type HealthStatus = "SERVING" | "NOT_SERVING" | "UNKNOWN";

/** `HealthCheckResponse.ServingStatus`. */
const NUMBERS = { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2 } as const;
/** The status of an unknown service for a watcher. */
const SERVICE_UNKNOWN = 3;

/** Longest name of a service, in bytes. A watcher's name is kept as long as the call. */
const MAX_NAME = 1024;

const PACKAGE = "grpc.health.v1";
const CHECK = { input: `${PACKAGE}.HealthCheckRequest`, output: `${PACKAGE}.HealthCheckResponse` };
const LIST = { input: `${PACKAGE}.HealthListRequest`, output: `${PACKAGE}.HealthListResponse` };

/** Statuses of services, and the service that reports statuses. */
export class HealthService {
  /** The service for the server's list. */
  readonly service: GrpcService = {
    name: `${PACKAGE}.Health`,
    methods: [
      unaryMethod({ name: "Check", ...CHECK }, (request) => this.#check(readService(request))),
      { name: "Watch", ...CHECK, serverStreaming: true, handle: (call) => call.start(this.#watch(call)) },
      unaryMethod({ name: "List", ...LIST }, () => this.#list()),
    ],
  };
  readonly #statuses = new Map<string, HealthStatus>();
  readonly #watchers = new Map<string, Set<Watcher>>();
  #stopped = false;

  /** Sets the status of a service; the empty name is the whole server. */
  set(service: string, status: HealthStatus): void {
    if (this.#stopped) return;
    this.#statuses.set(service, status);
    for (const watcher of this.#watchers.get(service) ?? []) watcher.send(NUMBERS[status]);
  }

  /** Every service is NOT_SERVING from now on, for good: the server is about to stop. */
  stop(): void {
    for (const service of [...this.#statuses.keys()]) this.set(service, "NOT_SERVING");
    this.#stopped = true;
  }

  #check(service: string): Uint8Array {
    const status = this.#statuses.get(service);
    if (status === undefined) throw new RpcError(Code.NOT_FOUND, `unknown service ${JSON.stringify(service)}`);
    return encodeStatus(NUMBERS[status]);
  }

  /** `map<string, HealthCheckResponse> statuses = 1`. */
  #list(): Uint8Array {
    const out = new MessageWriter();
    for (const [service, status] of this.#statuses) {
      const entry = new MessageWriter().string(1, service).bytes(2, encodeStatus(NUMBERS[status]));
      out.bytes(1, entry.finish());
    }
    return out.finish();
  }

  #watch(call: Call): Watcher {
    const watcher: Watcher = new Watcher(call, (service) => {
      const watchers = this.#watchers.get(service) ?? new Set();
      this.#watchers.set(service, watchers.add(watcher));
      const status = this.#statuses.get(service);
      watcher.send(status === undefined ? SERVICE_UNKNOWN : NUMBERS[status]);
      return () => {
        watchers.delete(watcher);
        if (watchers.size === 0) this.#watchers.delete(service);
      };
    });
    return watcher;
  }
}

/** One `Watch` call. Sends the status at once and after every change. A slow client gets only the last status. */
class Watcher implements CallHandler {
  #leave: (() => void) | undefined;
  #sent: number | undefined;
  #wanted: number | undefined;
  #sending = false;

  readonly #call: Call;
  readonly #join: (service: string) => () => void;

  constructor(call: Call, join: (service: string) => () => void) {
    this.#call = call;
    this.#join = join;
  }

  message(request: Uint8Array): void {
    if (this.#leave !== undefined) throw new RpcError(Code.INTERNAL, "a second request on a watch");
    const service = readService(request);
    this.#leave = this.#join(service);
  }

  /** After a request the client goes on listening. */
  halfClose(): void {
    if (this.#leave === undefined) this.#call.end(Code.INTERNAL, "no request on a watch");
  }

  close(): void {
    this.#leave?.();
  }

  send(status: number): void {
    this.#wanted = status;
    if (this.#sending || this.#sent === status) return;
    this.#sending = true;
    this.#sent = status;
    this.#call.send([encodeStatus(status)], false, () => {
      this.#sending = false;
      if (this.#wanted !== undefined) this.send(this.#wanted);
    });
  }
}

/** `HealthCheckRequest`: `string service = 1`. */
function readService(request: Uint8Array): string {
  if (request.length > MAX_NAME) {
    throw new RpcError(Code.INVALID_ARGUMENT, `service: expected a name of at most ${MAX_NAME} bytes`);
  }
  try {
    let service = "";
    const cursor = new WireCursor(request);
    while (cursor.next()) {
      if (cursor.field === 1 && cursor.wireType === 2) service = utf8Text(cursor.bytes());
      else cursor.skip();
    }
    return service;
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new RpcError(Code.INVALID_ARGUMENT, `expected a HealthCheckRequest: ${error.message}`);
  }
}

/** `HealthCheckResponse`: `ServingStatus status = 1`. */
function encodeStatus(status: number): Uint8Array {
  return new MessageWriter().varint(1, status).finish();
}
