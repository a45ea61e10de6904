/**
 * The discovery server: the aggregated discovery service, both variants, over a {@linkcode ResourceSource}.
 *
 * Permissions: net (the listen addresses given to {@linkcode XdsServer.listen}).
 *
 * @module
 */
import { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import type { Call } from "../grpc/call.ts";
import { Code } from "../grpc/codes.ts";
import { HealthService } from "../grpc/health.ts";
import { withReflection } from "../grpc/reflection/service.ts";
import { DEFAULT_MESSAGE, GrpcServer, type GrpcServerOptions } from "../grpc/server.ts";
import type { GrpcService } from "../grpc/service.ts";
import { PacedLines } from "../kernel/log/paced_lines.ts";
import { DiffTable } from "../resource/diff.ts";
import { InternedNames } from "../resource/names.ts";
import { ResourceTable } from "../resource/set.ts";
import type { TlsCertificates } from "../sockets/listen/certificates.ts";
import { byPreface } from "../sockets/listen/preface.ts";
import { listen, type Listener, parseListenAddress } from "../sockets/listen/tcp.ts";
import { listenTls, type TlsListener, type TlsListenOptions } from "../sockets/listen/tls.ts";
import { addressGroup } from "../sockets/transport/address_group.ts";
import type { Peer, TlsState } from "../sockets/transport/peer.ts";
import { SocketTransport } from "../sockets/transport/socket.ts";
import { spiffeId } from "../sockets/transport/spiffe_id.ts";
import { Admission, defaultAdmissionRate, type WaitingStream } from "./admission.ts";
import { RecentTexts } from "./ads/recent_texts.ts";
import { StackDigests } from "./ads/set_stack.ts";
import { type ConnectionContext, XdsConnection } from "./connection.ts";
import { ClientEvents } from "./events/client_events.ts";
import { PushLedger } from "./ledger.ts";
import { OwedEndpoints } from "./owed_endpoints.ts";
import { NO_METRICS, type XdsMetrics } from "./protocol/metrics.ts";
import type { DebugAnswers } from "./protocol/questions.ts";
import type { PushEvent, ResourceSource } from "./protocol/source.ts";
import { defaultPushThrottle, PushQueue } from "./push_queue.ts";
import { QuestionPlaces } from "./questions/places.ts";
import { RejectGauges } from "./reject_gauges.ts";

/** Finds the keys by which admission counts calls. The certificate of a connection is read once. */
export class AdmissionKeys {
  readonly #known = new WeakMap<Peer, string | Peer>();

  /**
   * The SPIFFE identity of the client's verified certificate; of a certificate without a SPIFFE identity, the names. So
   * all connections of one identity share a turn, also after a renewal of the certificate. Without a verified
   * certificate the key is the connection itself, by the peer object. An address cannot be the key: clients behind a
   * load balancer share an address.
   */
  of(peer: Peer): string | Peer {
    const leaf = peer.tls?.verified === true ? peer.tls.chain[0] : undefined;
    if (leaf === undefined) return peer;
    let key = this.#known.get(peer);
    if (key === undefined) {
      key = spiffeId(peer) ?? namesOf(leaf) ?? peer;
      this.#known.set(peer, key);
    }
    return key;
  }
}

/** Subject and alternative names as one text; undefined: the certificate has neither. */
function namesOf(der: Uint8Array): string | undefined {
  const { subject, subjectAltName } = new X509Certificate(der);
  return subject || subjectAltName ? JSON.stringify([subject ?? "", subjectAltName ?? ""]) : undefined;
}

/** Most log lines a second about calls that failed by a fault of this server. Clients can call without limit. */
const MOST_DEFECTS = 10;

/** Settings of a server. Times in milliseconds. */
export interface XdsServerOptions {
  readonly source: ResourceSource;
  /** The table of the source's resource sets. */
  readonly resources: ResourceTable;
  readonly metrics?: XdsMetrics;
  readonly log?: ConnectionContext["log"];
  /** Further services on the same ports. Default: none. */
  readonly services?: readonly GrpcService[];
  /** Keepalive, connection age, message size, connections, streams a connection, back-pressure. */
  readonly grpc?: Omit<GrpcServerOptions, "onError" | "onClosing" | "onRefused">;
  /** New streams a second (`PILOT_MAX_REQUESTS_PER_SECOND`); 0 = {@linkcode defaultAdmissionRate}. */
  readonly maxRequestsPerSecond?: number;
  /**
   * The client's key in the count of new streams. Clients are admitted in turn; clients whose key is their connection
   * share turns by address. Default {@linkcode AdmissionKeys.of}.
   */
  readonly admissionKey?: (peer: Peer) => unknown;
  /** Streams pushed to at a time (`PILOT_PUSH_THROTTLE`); 0 = {@linkcode defaultPushThrottle}. */
  readonly pushThrottle?: number;
  /**
   * Refuses the first stream (`K_REVISION`). A serverless platform opens one as a probe, and would count an answered
   * stream as traffic. Default false.
   */
  readonly refuseFirst?: boolean;
  /** Cores of this machine, for the defaults of `maxRequestsPerSecond` and `pushThrottle`. Default 2. */
  readonly cores?: number;
  /**
   * Uncompressed bytes beyond which a response is split, where the protocol allows a split. Default 2 MiB: gRPC clients
   * take 4 MiB by default.
   */
  readonly maxResponseBytes?: number;
  /**
   * Largest incremental request of a client that may send large requests ({@linkcode ResourceSource.takesLarge}), in
   * bytes. Default: as of all clients.
   */
  readonly maxLargeRequest?: number;
  /** How long a source may take to answer `connect`; then the stream ends with UNAVAILABLE. Default 10,000. */
  readonly connectTimeout?: number;
  /** How long a source may leave a wanted name pending. Later the name counts as absent. Default 10,000. */
  readonly wantTimeout?: number;
  /** Identifier of this server in responses. */
  readonly controlPlane?: string;
  /** Identifier of this server in answers to requests for pages, for tools that ask several servers. */
  readonly instance?: string;
}

/** Most streams of events at a time. The clients are control planes and tools; a mesh has few of both. */
const EVENT_PLACES = { all: 32, ofOne: 16, confined: 16 } as const;

const PACKAGE = "envoy.service.discovery.v3";
const SERVICE = `${PACKAGE}.AggregatedDiscoveryService`;
const METHODS = [
  { name: "StreamAggregatedResources", delta: false, input: "DiscoveryRequest", output: "DiscoveryResponse" },
  { name: "DeltaAggregatedResources", delta: true, input: "DeltaDiscoveryRequest", output: "DeltaDiscoveryResponse" },
];

/** A discovery server. */
export class XdsServer {
  readonly grpc: GrpcServer;
  /** Statuses for clients of `grpc.health.v1`. */
  readonly health = new HealthService();
  readonly ledger = new PushLedger();
  readonly #connections = new Set<XdsConnection>();
  readonly #events = new ClientEvents(() => this.#connections);
  readonly #options: XdsServerOptions;
  readonly #listeners: Listener[] = [];
  readonly #metrics: XdsMetrics;
  readonly #queue: PushQueue;
  readonly #admission: Admission;
  readonly #admissionKey: (peer: Peer) => unknown;
  readonly #context: ConnectionContext;
  readonly #stopPushes: () => void;
  readonly #refused: (address: string) => void;
  #answers: DebugAnswers | undefined;
  #numbers = 0;
  #refuseNext: boolean;

  constructor(options: XdsServerOptions) {
    this.#options = options;
    const cores = options.cores ?? 2;
    this.#refuseNext = options.refuseFirst ?? false;
    const metrics = this.#metrics = options.metrics ?? NO_METRICS;
    const log = options.log ?? (() => {});
    const defects = new PacedLines(undefined, MOST_DEFECTS);
    const refusals = new PacedLines();
    this.#refused = (address) => {
      const unsaid = refusals.next();
      if (unsaid === undefined) return;
      const { limit } = this.grpc.places;
      log("warn", "a connection was closed: the most connections are open", { address, limit, ...unsaid });
    };
    this.grpc = new GrpcServer(withReflection([this.#service(), ...options.services ?? [], this.health.service]), {
      ...options.grpc,
      onRefused: this.#refused,
      onError: (error, where) => {
        metrics.count("pilot_total_xds_internal_errors", 1);
        const unsaid = defects.next();
        if (unsaid !== undefined) log("error", "internal error on a call", { where, error, ...unsaid });
      },
      onClosing: (reason, connection) => {
        if (reason === "stall") metrics.count("pilot_xds_write_timeout", 1);
        log(reason === "stall" ? "warn" : "info", "closing a connection", { reason, address: connection.address });
      },
    });
    this.#queue = new PushQueue(
      options.pushThrottle || defaultPushThrottle(cores),
      (seconds) => metrics.observe("pilot_proxy_queue_time", seconds),
    );
    this.#admission = new Admission(options.maxRequestsPerSecond || defaultAdmissionRate(cores));
    const keys = new AdmissionKeys();
    this.#admissionKey = options.admissionKey ?? ((peer) => keys.of(peer));
    const answers = () => this.#answers;
    this.#context = {
      source: options.source,
      ledger: this.ledger,
      metrics,
      names: new InternedNames(),
      texts: new RecentTexts(),
      later,
      diffs: new DiffTable(),
      digests: new StackDigests(),
      resources: options.resources,
      maxRequest: options.grpc?.maxMessageSize ?? DEFAULT_MESSAGE,
      maxResponseBytes: options.maxResponseBytes ?? 2 * 1024 * 1024,
      connectTimeout: options.connectTimeout ?? 10_000,
      wantTimeout: options.wantTimeout ?? 10_000,
      controlPlane: options.controlPlane ?? "",
      log,
      owed: new OwedEndpoints(),
      rejects: new RejectGauges(metrics),
      aside: {
        questions: {
          get answers() {
            return answers();
          },
          places: new QuestionPlaces(),
          server: options.instance,
        },
        events: {
          get answers() {
            return answers();
          },
          places: new QuestionPlaces(EVENT_PLACES),
          events: this.#events,
        },
      },
      nextNumber: () => ++this.#numbers,
      onOpen: (connection) => this.#opened(connection),
      onClose: (connection) => this.#closed(connection),
      onAnswered: (connection) => this.#queue.add(connection),
    };
    for (const name of ["", SERVICE]) this.health.set(name, options.source.ready ? "SERVING" : "NOT_SERVING");
    this.#stopPushes = options.source.onPush((push) => this.#push(push));
  }

  /**
   * Listens for gRPC, e.g. on `:15010`. Connections without the HTTP/2 preface are handed to `http1`, if given, so that
   * both protocols share the port.
   *
   * @returns the listener; {@linkcode XdsServer.stop} closes it too
   */
  async listen(address: string, http1?: (socket: Socket) => void): Promise<Listener> {
    const grpc = (socket: Socket) => this.grpc.accept(new SocketTransport(socket));
    const listener = await listen(parseListenAddress(address), http1 === undefined ? grpc : byPreface(grpc, http1));
    this.#listeners.push(listener);
    return listener;
  }

  /**
   * Listens for gRPC over TLS, e.g. on `:15012`, with the same services. A handshake takes a place among the
   * connections.
   *
   * @returns the listener; {@linkcode XdsServer.stop} closes it too
   * @throws TypeError when the certificates cannot be used, Error when the address cannot be used
   */
  async listenTls(
    address: string,
    certificates: TlsCertificates,
    options: Omit<TlsListenOptions, "protocols" | "places"> = {},
  ): Promise<TlsListener> {
    const accept = (socket: Socket, tls: TlsState) => this.grpc.accept(new SocketTransport(socket, tls));
    const listener = await listenTls(parseListenAddress(address), certificates, accept, {
      ...options,
      places: this.grpc.places,
      onRefused: (client) => {
        this.#refused(client);
        options.onRefused?.(client);
      },
    });
    this.#listeners.push(listener);
    return listener;
  }

  /** Stops listening, asks all clients to connect elsewhere, and is done within about `deadline` milliseconds. */
  async stop(deadline: number): Promise<void> {
    this.health.stop();
    this.#stopPushes();
    const closing = this.#listeners.map((listener) => listener.close());
    await this.grpc.stop(deadline);
    await Promise.all(closing);
  }

  /** Answers requests for pages, of type `istio.io/debug`, from now on. Earlier requests are refused. */
  answerQuestions(answers: DebugAnswers): void {
    this.#answers = answers;
  }

  /** Clients after their first request. */
  streams(): Iterable<XdsConnection> {
    return this.#connections;
  }

  #service(): GrpcService {
    const methods = METHODS.map(({ name, delta, input, output }) => ({
      name,
      input: `${PACKAGE}.${input}`,
      output: `${PACKAGE}.${output}`,
      clientStreaming: true,
      serverStreaming: true,
      handle: (call: Call) => this.#admit(call, delta),
      ...delta && this.#options.maxLargeRequest !== undefined ? { maxMessageSize: this.#options.maxLargeRequest } : {},
    }));
    return { name: SERVICE, methods };
  }

  #admit(call: Call, delta: boolean): void {
    if (this.#refuseNext) {
      this.#refuseNext = false;
      return call.end(Code.UNAVAILABLE, "the server is warming up, try again");
    }
    if (!this.#options.source.ready) return call.end(Code.UNAVAILABLE, "the server's sources are not synced yet");
    const waiting: WaitingStream = {
      admit: () => this.#start(call, delta),
      refuse: () => call.end(Code.RESOURCE_EXHAUSTED, "too many new streams, try again later"),
    };
    call.onLeft(() => this.#admission.leave(waiting));
    const key = this.#admissionKey(call.peer);
    this.#admission.request(key, waiting, key === call.peer ? addressGroup(call.peer.address) : key);
  }

  #start(call: Call, delta: boolean): void {
    try {
      call.respond();
      call.start(new XdsConnection(call, delta, this.#context));
    } catch (error) {
      call.fail(error);
    }
  }

  #opened(connection: XdsConnection): void {
    this.#connections.add(connection);
    this.#metrics.gauge("pilot_xds", this.#connections.size);
    this.#events.came(connection);
    this.#context.log("info", "client connected", { connection: connection.id, address: connection.address });
  }

  #closed(connection: XdsConnection): void {
    this.#connections.delete(connection);
    this.#queue.remove(connection);
    this.#metrics.gauge("pilot_xds", this.#connections.size);
    this.#events.left(connection);
    this.#context.log("info", "client gone", { connection: connection.id, address: connection.address });
  }

  #push(push: PushEvent): void {
    for (const [type, count] of Object.entries(push.reasons)) {
      this.#metrics.count("pilot_push_triggers", count, { type });
    }
    this.ledger.begin(push);
    for (const connection of [...this.#connections]) {
      if (connection.refresh()) this.#queue.add(connection);
    }
  }
}

function later(delay: number, run: () => void): () => void {
  const timer = setTimeout(run, delay);
  return () => clearTimeout(timer);
}
