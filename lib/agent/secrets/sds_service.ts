/**
 * The secret discovery service for the proxy beside the agent.
 *
 * @module
 */
import type { Call } from "../../grpc/call.ts";
import type { CallHandler } from "../../grpc/call_handler.ts";
import { Code } from "../../grpc/codes.ts";
import { type GrpcService, unaryMethod } from "../../grpc/service.ts";
import { RpcError } from "../../grpc/status.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import { WireError } from "../../resource/protowire.ts";
import { type AgentSecret, type EncodedSecret, encodeSecret, type SecretSource } from "./agent_secret.ts";
import { readSdsRequest, sdsDeltaResponse, type SdsRequest, sdsResponse } from "./sds_messages.ts";

/** Limit of names for one stream or one fetch. A proxy asks for one name on each stream. */
const MAX_NAMES = 1000;
/** Limit of a rejection's text in the log, characters. */
const MAX_REJECTION = 8192;

type SdsVariant = "sotw" | "delta";

/** Log and metrics of the service. */
export interface SdsReports {
  readonly log: Logger;
  readonly metrics: Metrics;
}

export function sdsService(source: SecretSource, reports: SdsReports): GrpcService {
  const messages = (prefix: string) => ({
    input: `envoy.service.discovery.v3.${prefix}DiscoveryRequest`,
    output: `envoy.service.discovery.v3.${prefix}DiscoveryResponse`,
  });
  const both = { clientStreaming: true, serverStreaming: true } as const;
  const stream = (variant: SdsVariant) => (call: Call) => {
    call.respond();
    call.start(new SdsStream(call, variant, source, reports));
  };
  return {
    name: "envoy.service.secret.v3.SecretDiscoveryService",
    methods: [
      { name: "StreamSecrets", ...messages(""), ...both, handle: stream("sotw") },
      { name: "DeltaSecrets", ...messages("Delta"), ...both, handle: stream("delta") },
      unaryMethod({ name: "FetchSecrets", ...messages("") }, (bytes) => fetchSecrets(source, bytes)),
    ],
  };
}

/** All secrets of a request, as soon as all secrets exist. */
async function fetchSecrets(source: SecretSource, bytes: Uint8Array): Promise<Uint8Array> {
  const { names } = parsed("sotw", bytes);
  const secrets = await Promise.all([...new Set(names)].map((name) => once(source, name)));
  return sdsResponse(secrets, "1", "1");
}

function once(source: SecretSource, name: string): Promise<EncodedSecret> {
  const { promise, resolve, reject } = Promise.withResolvers<EncodedSecret>();
  const stop = source.watch(name, {
    secret: (secret) => resolve(encodeSecret(name, secret)),
    failed: (reason) => reject(noSecret(name, reason)),
  });
  if (stop === undefined) reject(unknownName(name));
  return promise.finally(() => stop?.());
}

function unknownName(name: string): RpcError {
  return new RpcError(Code.NOT_FOUND, `secret ${JSON.stringify(name)}: the agent has none of that name`);
}

function tooMany(): RpcError {
  return new RpcError(Code.RESOURCE_EXHAUSTED, `more than ${MAX_NAMES} secrets on one stream`);
}

function noSecret(name: string, reason: string): RpcError {
  return new RpcError(Code.UNAVAILABLE, `secret ${JSON.stringify(name)}: ${reason}`);
}

/** @throws {RpcError} INVALID_ARGUMENT for bytes that are not a request, RESOURCE_EXHAUSTED for too many names. */
function parsed(variant: SdsVariant, bytes: Uint8Array): SdsRequest {
  try {
    const request = readSdsRequest(variant, bytes);
    if (request.names.length > MAX_NAMES) throw tooMany();
    return request;
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new RpcError(Code.INVALID_ARGUMENT, `expected a discovery request: ${error.message}`);
  }
}

/** One stream. The wanted secrets are watched, and each secret is sent when it appears or changes. */
class SdsStream implements CallHandler {
  readonly #watches = new Map<string, () => void>();
  /** Version of each secret that the client has or was sent. */
  readonly #sent = new Map<string, string>();
  readonly #call: Call;
  readonly #variant: SdsVariant;
  readonly #source: SecretSource;
  readonly #reports: SdsReports;
  #nonce = 0;

  constructor(call: Call, variant: SdsVariant, source: SecretSource, reports: SdsReports) {
    this.#call = call;
    this.#variant = variant;
    this.#source = source;
    this.#reports = reports;
  }

  message(bytes: Uint8Array): void {
    const request = parsed(this.#variant, bytes);
    const { log, metrics } = this.#reports;
    // Secrets of several names are sent in separate responses, so a request may answer an earlier response.
    if (request.nonce !== "" && request.nonce !== String(this.#nonce)) {
      metrics.counter("pilot_xds_expired_nonce").inc({ type: "sds" });
    }
    if (request.error !== undefined) {
      metrics.counter("pilot_total_xds_rejects").inc({ type: "sds" });
      log.warn(
        `the proxy rejected secrets ${[...this.#sent.keys()].join(", ")}: ${request.error.slice(0, MAX_REJECTION)}`,
      );
    }
    if (this.#variant === "delta") request.unwanted.forEach((name) => this.#forget(name));
    else {
      const wanted = new Set(request.names);
      for (const name of [...this.#watches.keys()]) if (!wanted.has(name)) this.#forget(name);
    }
    for (const name of request.names) this.#want(name, request.versions.get(name));
  }

  /** @param version The client's version, which need not be sent again. Undefined: the client has none. */
  #want(name: string, version: string | undefined): void {
    if (version !== undefined) this.#sent.set(name, version);
    if (this.#watches.has(name)) return;
    if (this.#watches.size >= MAX_NAMES) throw tooMany();
    this.#watches.set(name, () => {});
    const stop = this.#source.watch(name, {
      secret: (secret) => this.#send(name, secret),
      // The proxy opens the stream again later, and keeps its secrets.
      failed: (reason) => this.#call.fail(noSecret(name, reason)),
    });
    if (stop === undefined) throw unknownName(name);
    if (this.#call.closed) stop();
    else this.#watches.set(name, stop);
  }

  #forget(name: string): void {
    this.#watches.get(name)?.();
    this.#watches.delete(name);
    this.#sent.delete(name);
  }

  #send(name: string, secret: AgentSecret): void {
    const encoded = encodeSecret(name, secret);
    if (this.#sent.get(name) === encoded.version) return;
    this.#sent.set(name, encoded.version);
    const nonce = String(++this.#nonce);
    const write = this.#variant === "delta" ? sdsDeltaResponse : sdsResponse;
    const started = performance.now();
    this.#call.send([write([encoded], nonce, nonce)], false, () => {
      this.#reports.metrics.histogram("pilot_xds_send_time").observe((performance.now() - started) / 1000);
    });
  }

  close(): void {
    for (const name of [...this.#watches.keys()]) this.#forget(name);
  }
}
