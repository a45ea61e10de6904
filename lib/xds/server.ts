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
import { GrpcServer, type GrpcServerOptions } from "../grpc/server.ts";
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

// The key by which admission counts a call: the verified identity of the client, else its connection.

/** Finds the keys of clients; reads the certificate of a connection once. */
export class AdmissionKeys {
  readonly #known = new WeakMap<Peer, string | Peer>();

  /**
   * The SPIFFE identity of the client's verified certificate, or the names in it where it holds no such identity, so
   * that all connections of one identity share a turn, also after its certificate is renewed; else the connection itself, by its peer object. An address is no key:
   * clients behind a load balancer share one.
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

/** Subject and alternative names as one text; undefined when the certificate has neither. */
function namesOf(der: Uint8Array): string | undefined {
  const { subject, subjectAltName } = new X509Certificate(der);
  return subject || subjectAltName ? JSON.stringify([subject ?? "", subjectAltName ?? ""]) : undefined;
}

/** Lines a second about calls in which this server is at fault: clients can call as often as they like. */
const MOST_DEFECTS = 10;

/** Settings of a server. Times in milliseconds. */
export interface XdsServerOptions {
  readonly source: ResourceSource;
  /** The table that the source's sets are made with. */
  readonly resources: ResourceTable;
  readonly metrics?: XdsMetrics;
  readonly log?: ConnectionContext["log"];
  /** Further services on the same ports. Default: none. */
  readonly services?: readonly GrpcService[];
  /** Keepalive, connection age, message size, streams a connection, back-pressure. */
  readonly grpc?: Omit<GrpcServerOptions, "onError" | "onClosing">;
  /** New streams a second (`PILOT_MAX_REQUESTS_PER_SECOND`); 0 = {@linkcode defaultAdmissionRate}. */
  readonly maxRequestsPerSecond?: number;
  /** Key of the client that a new stream is counted to; clients are admitted in turn, those that are counted to their connection by address. Default {@linkcode AdmissionKeys.of}. */
  readonly admissionKey?: (peer: Peer) => unknown;
  /** Streams pushed to at a time (`PILOT_PUSH_THROTTLE`); 0 = {@linkcode defaultPushThrottle}. */
  readonly pushThrottle?: number;
  /**
   * Refuses the first stream (`K_REVISION`): a serverless platform sends one to see whether the server is there, and
   * would take its answer for traffic. Default false.
   */
  readonly refuseFirst?: boolean;
  /** Cores of this machine, for the two settings before. Default 2. */
  readonly cores?: number;
  /**
   * Plain bytes after which a response is split where the protocol allows it. Default 2 MiB: gRPC clients take 4 MiB
   * unless set otherwise.
   */
  readonly maxResponseBytes?: number;
  /** How long a source may take to answer `connect`; then the stream ends with UNAVAILABLE. Default 10,000. */
  readonly connectTimeout?: number;
  /** How long a source may leave a name that a client wants pending; then it counts as absent. Default 10,000. */
  readonly wantTimeout?: number;
  /** Identifier of this server in responses. */
  readonly controlPlane?: string;
  /** The same in answers to requests for pages: tools that ask several servers tell them apart by it. */
  readonly instance?: string;
}

/** Streams of events at a time: of control planes and tools, of which a mesh has a few. */
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
  /** Statuses that clients of `grpc.health.v1` get. */
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
    this.grpc = new GrpcServer(withReflection([this.#service(), ...options.services ?? [], this.health.service]), {
      ...options.grpc,
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
   * Listens for gRPC, e.g. on `:15010`; with `http1`, connections that do not begin with the HTTP/2 preface are handed
   * to it, so that both share the port.
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
   * Listens for gRPC over TLS, e.g. on `:15012`, with the same services. Handshakes take places of connections.
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

  /** Answers requests for pages, of type `istio.io/debug`, from now on. Without answers they are refused. */
  answerQuestions(answers: DebugAnswers): void {
    this.#answers = answers;
  }

  /** Clients that have sent their first request. */
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
