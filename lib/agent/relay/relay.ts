/**
 * The relay at work: the machine of `./machine.ts` between a gRPC server for the proxy and streams to the server.
 *
 * Permissions: read, write (the socket), and the permissions of the upstream.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import type { Call } from "../../grpc/call.ts";
import type { CallHandler } from "../../grpc/call_handler.ts";
import type { GrpcService } from "../../grpc/service.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { WorkloadReport } from "../health/health_state.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import {
  type HeldResponse,
  initialRelay,
  type RelayEffect,
  type RelayEvent,
  type RelayState,
  stepRelay,
} from "./machine.ts";
import { type OwnResponse, readResponse, type RelayVariant } from "./messages.ts";
import { ProxyAnswers } from "./proxy_answers.ts";
import type { OpenUpstream, Upstream } from "./upstream.ts";

/**
 * Processes a response to the agent itself. An exception rejects the response, with the exception's message as the
 * reason.
 */
export type OwnHandler = (response: OwnResponse) => void | Promise<void>;

/** The receiver of a rewriter's responses. */
export interface RewriteTarget {
  /** A response goes to the proxy. */
  send(bytes: Uint8Array): void;
  /** Tells the server that a part of the response with this nonce is not in force, and why. */
  refuse(nonce: string, reason: string): void;
}

/** Rewrites the responses of one type on one connection, and sends them in the order of arrival. */
export interface ResponseRewriter {
  take(bytes: Uint8Array): void;
  /** The proxy asks for something: of other types, too. */
  asked(request: Uint8Array): void;
  /** The connection is over: nothing is sent any more. */
  close(): void;
}

/** Begins to rewrite on a connection. */
export type OpenRewriter = (variant: RelayVariant, target: RewriteTarget) => ResponseRewriter;

/** Inputs of a relay. */
export interface RelayOptions {
  readonly open: OpenUpstream;
  /** Rewriters by type. Absent: every response goes to the proxy unchanged. */
  readonly rewriters?: ReadonlyMap<string, OpenRewriter>;
  /** Types that the agent requests itself. */
  readonly own: ReadonlyMap<string, OwnHandler>;
  /** Id of the proxy in metrics. */
  readonly node: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** From 0 to 1; default: `Math.random`. */
  readonly random?: () => number;
}

/** Times between attempts to reach the server, ms: the first time is doubled up to the longest. */
const RETRY = { first: 500, longest: 30_000 };

/** A relay for one proxy. */
export class Relay {
  readonly #options: RelayOptions;
  #state: RelayState;
  readonly #events: RelayEvent[] = [];
  #working = false;
  #streams = 0;
  readonly #calls = new Map<number, Call>();
  readonly #upstreams = new Map<number, Upstream>();
  /** Open connections. */
  readonly #open = new Set<number>();
  /** Rewriters by type, of each connection. */
  readonly #rewriters = new Map<number, Map<string, ResponseRewriter>>();
  readonly #answers: ProxyAnswers;
  #retry: Cancel | undefined;
  #reported = "";
  #work: Promise<void> = Promise.resolve();

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#answers = new ProxyAnswers(options.metrics, options.node);
    this.#state = initialRelay([...options.own.keys()], [...options.rewriters?.keys() ?? []]);
  }

  /** The service for the proxy. */
  get service(): GrpcService {
    const both = { clientStreaming: true, serverStreaming: true } as const;
    const types = (prefix: string) => ({
      input: `envoy.service.discovery.v3.${prefix}DiscoveryRequest`,
      output: `envoy.service.discovery.v3.${prefix}DiscoveryResponse`,
    });
    return {
      name: "envoy.service.discovery.v3.AggregatedDiscoveryService",
      methods: [
        { name: "StreamAggregatedResources", ...types(""), ...both, handle: (call) => this.#accept(call, "sotw") },
        { name: "DeltaAggregatedResources", ...types("Delta"), ...both, handle: (call) => this.#accept(call, "delta") },
      ],
    };
  }

  /** Whether the server has answered the proxy's present stream. */
  get connected(): boolean {
    return this.#state.session?.phase === "answered";
  }

  /** Tells the server of the workload's health, now and on each stream to come. */
  reportHealth(report: WorkloadReport): void {
    this.#happened({ type: "health", report });
  }

  /** Ends all streams; none is taken any more. */
  stop(): void {
    this.#happened({ type: "stop" });
    this.#retry?.();
  }

  #accept(call: Call, variant: RelayVariant): void {
    const stream = ++this.#streams;
    this.#calls.set(stream, call);
    this.#answers.opened(stream);
    const { metrics } = this.#options;
    const handler: CallHandler = {
      message: (bytes) => {
        metrics.counter("xds_proxy_requests").inc();
        this.#answers.requested(stream, variant, bytes);
        this.#happened({ type: "downstream message", stream, bytes: new Uint8Array(bytes) });
      },
      close: () => {
        const byProxy = this.#calls.delete(stream);
        this.#answers.closed(stream);
        metrics.counter("proxy_connection_terminations").inc({ type: byProxy ? "cancelled" : "error" });
        this.#happened({ type: "downstream closed", stream });
      },
    };
    this.#happened({ type: "downstream opened", stream, variant });
    call.respond();
    call.start(handler);
  }

  /** Takes one event after the other: an event may cause the next event while the relay handles it. */
  #happened(event: RelayEvent): void {
    this.#events.push(event);
    if (this.#working) return;
    this.#working = true;
    try {
      for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
        const { state, effects } = stepRelay(this.#state, next);
        this.#state = state;
        for (const effect of effects) this.#perform(effect);
      }
    } finally {
      this.#working = false;
    }
  }

  #perform(effect: RelayEffect): void {
    switch (effect.type) {
      case "dial":
        return this.#dial(effect.connection, effect.variant);
      case "dial later":
        return this.#dialLater(effect.connection, effect.failures);
      case "send up":
        this.#upstreams.get(effect.connection)?.send(effect.bytes);
        for (const rewriter of this.#rewriters.get(effect.connection)?.values() ?? []) rewriter.asked(effect.bytes);
        return;
      case "close upstream": {
        const upstream = this.#upstreams.get(effect.connection);
        this.#upstreams.delete(effect.connection);
        this.#endRewriters(effect.connection);
        if (this.#open.delete(effect.connection)) this.#terminated("cancelled");
        return upstream?.close();
      }
      case "send down":
        return this.#sendDown(effect.stream, effect.bytes);
      case "close downstream": {
        const call = this.#calls.get(effect.stream);
        this.#calls.delete(effect.stream);
        return call?.end(effect.code, effect.reason);
      }
      case "rewrite":
        return this.#rewriter(effect)?.take(effect.bytes);
      case "work off":
        // One response after the other: of two responses of a type the later response counts.
        this.#work = this.#work.then(() => this.#workOff(effect));
        return;
    }
  }

  #sendDown(stream: number, bytes: Uint8Array): void {
    const { metrics, clock } = this.#options;
    metrics.counter("xds_proxy_responses").inc();
    const started = clock.monotonic();
    const taken = () => metrics.histogram("pilot_xds_send_time").observe((clock.monotonic() - started) / 1000);
    this.#calls.get(stream)?.send([bytes], false, taken);
  }

  #dial(connection: number, variant: RelayVariant): void {
    const { open, metrics, log } = this.#options;
    const upstream = open(variant, {
      opened: () => {
        this.#open.add(connection);
        this.#happened({ type: "upstream opened", connection });
      },
      message: (bytes) => {
        // Only an answer proves that the server is reached: a server that refuses the agent first accepts the stream
        // and then ends it.
        if (this.#reported !== "") log.info("the discovery server is reached again");
        this.#reported = "";
        this.#happened({ type: "upstream message", connection, bytes });
      },
      closed: (reason) => {
        this.#upstreams.delete(connection);
        this.#endRewriters(connection);
        if (this.#open.delete(connection)) this.#terminated("error");
        else metrics.counter("meshd_connection_failures").inc();
        this.#report(reason);
        this.#happened({ type: "upstream closed", connection, reason });
      },
    });
    this.#upstreams.set(connection, upstream);
  }

  #rewriter({ connection, variant, typeUrl }: HeldResponse): ResponseRewriter | undefined {
    // The connection may have ended while the last responses were on their way.
    if (!this.#upstreams.has(connection)) return undefined;
    const ofConnection = this.#rewriters.getOrInsertComputed(connection, () => new Map());
    return ofConnection.get(typeUrl) ?? this.#openRewriter(ofConnection, { connection, variant, typeUrl });
  }

  #openRewriter(
    ofConnection: Map<string, ResponseRewriter>,
    { connection, variant, typeUrl }: Omit<HeldResponse, "bytes">,
  ): ResponseRewriter | undefined {
    const rewriter = this.#options.rewriters?.get(typeUrl)?.(variant, {
      send: (bytes) => this.#happened({ type: "rewritten", connection, bytes }),
      refuse: (nonce, reason) => this.#happened({ type: "refused", connection, typeUrl, nonce, reason }),
    });
    if (rewriter !== undefined) ofConnection.set(typeUrl, rewriter);
    return rewriter;
  }

  #endRewriters(connection: number): void {
    for (const rewriter of this.#rewriters.get(connection)?.values() ?? []) rewriter.close();
    this.#rewriters.delete(connection);
  }

  #dialLater(connection: number, failures: number): void {
    const { clock, random = Math.random } = this.#options;
    const longest = Math.min(RETRY.longest, RETRY.first * 2 ** (failures - 1));
    this.#retry?.();
    // Agents of many workloads lose the server at the same time.
    this.#retry = clock.after(
      longest * (0.5 + random() / 2),
      () => this.#happened({ type: "time to dial", connection }),
    );
  }

  async #workOff({ connection, variant, typeUrl, bytes }: HeldResponse): Promise<void> {
    let response: OwnResponse = { typeUrl, nonce: "", version: "", resources: [], removed: [] };
    let failure: { readonly error: string } | undefined;
    try {
      response = readResponse(variant, bytes);
      await this.#options.own.get(typeUrl)?.(response);
    } catch (error) {
      failure = { error: errorMessage(error) };
      this.#options.log.warn(`${typeUrl} from the server was rejected: ${failure.error}`);
    }
    this.#happened({ type: "worked off", connection, response, ...failure });
  }

  #terminated(type: "cancelled" | "error"): void {
    this.#options.metrics.counter("meshd_connection_terminations").inc({ type });
  }

  /** A reason is reported once: a server that is gone for an hour is one line, not a thousand. */
  #report(reason: string): void {
    if (reason === this.#reported) return;
    this.#reported = reason;
    this.#options.log.warn(`no discovery server: ${reason}; the proxy keeps its configuration`);
  }
}
