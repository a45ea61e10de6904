/**
 * One client of the discovery service, from the call to the end of the stream.
 *
 * @module
 */
import { errorMessage } from "../kernel/text/error_message.ts";
import type { envoy } from "../../proto/gen/types.ts";
import type { DiffTable } from "../resource/diff.ts";
import type { InternedNames } from "../resource/names.ts";
import type { ResourceTable } from "../resource/set.ts";
import type { RecentTexts } from "./ads/recent_texts.ts";
import { type AdsRequest, readRequest } from "./ads/request.ts";
import type { StackDigests } from "./ads/set_stack.ts";
import type { ResponseInfo, StreamContext } from "./ads/stream_types.ts";
import { AdsStream } from "./ads/stream.ts";
import type { Call } from "../grpc/call.ts";
import type { CallHandler } from "../grpc/call_handler.ts";
import { Code } from "../grpc/codes.ts";
import { freeMessage } from "../grpc/frame.ts";
import { RpcError } from "../grpc/status.ts";
import { type AsideDesks, AsideRequests, type AsideStream, isAside } from "./aside.ts";
import { Connecting } from "./connecting.ts";
import type { PushLedger } from "./ledger.ts";
import type { XdsMetrics } from "./protocol/metrics.ts";
import type { OwedEndpoints } from "./owed_endpoints.ts";
import type { Pushable } from "./push_queue.ts";
import { readNode } from "./protocol/node.ts";
import type { PushProgress } from "./progress.ts";
import type { RejectGauges } from "./reject_gauges.ts";
import type { ConnectRequest, ProxyView, ResourceSource } from "./protocol/source.ts";
import { MAX_UNKNOWN_TYPES, typeRules } from "./protocol/types.ts";

type Node = envoy.config.core.v3.Node;

/** State shared by the connections of one server. */
export interface ConnectionContext {
  readonly source: ResourceSource;
  readonly ledger: PushLedger;
  readonly metrics: XdsMetrics;
  readonly names: InternedNames;
  readonly texts: RecentTexts;
  readonly diffs: DiffTable;
  readonly digests: StackDigests;
  readonly resources: ResourceTable;
  readonly later: StreamContext["later"];
  /** Largest request of usual clients, in bytes. */
  readonly maxRequest: number;
  readonly maxResponseBytes: number;
  /** Milliseconds for the source's answer to `connect`. */
  readonly connectTimeout: number;
  /** Longest time that a name may be pending, in milliseconds. */
  readonly wantTimeout: number;
  readonly controlPlane: string;
  readonly log: (level: "debug" | "info" | "warn" | "error", message: string, fields: Record<string, unknown>) => void;
  /** A number, unique in this process. */
  readonly nextNumber: () => number;
  readonly owed: OwedEndpoints;
  readonly rejects: RejectGauges;
  readonly aside: AsideDesks;
  readonly onOpen: (connection: XdsConnection) => void;
  readonly onClose: (connection: XdsConnection) => void;
  /** Names wanted by a client are no longer pending. */
  readonly onAnswered: (connection: XdsConnection) => void;
}

/**
 * The type of a client's report about its workload's health. Such a request comes between discovery requests and asks
 * for nothing.
 */
const HEALTH = "type.googleapis.com/istio.v1.HealthInformation";

/** A connected client. */
export class XdsConnection implements CallHandler, Pushable {
  /** `<node id>-<number>`; empty before the first request. */
  id = "";
  node: Node | undefined;
  stream: AdsStream | undefined;
  progress: PushProgress | undefined;
  /** Milliseconds since the epoch. */
  readonly connectedAt = Date.now();
  /** Responses handed to the connection and not taken yet. */
  #untaken = 0;
  #onTaken: (() => void) | undefined;
  #ignoredTypes = 0;
  /** A report of health was refused, and the refusal was logged. */
  #isDisbelieved = false;
  #connecting: Connecting | undefined;
  #aside: AsideRequests | undefined;
  #closed = false;

  readonly #context: ConnectionContext;

  constructor(readonly call: Call, readonly delta: boolean, context: ConnectionContext) {
    this.#context = context;
  }

  /** `address:port` of the client. */
  get address(): string {
    return this.call.peer.address;
  }

  message(bytes: Uint8Array): void {
    const request = readRequest(bytes, this.delta, this.#context.names);
    if (bytes.length > this.#context.maxRequest && !this.#takesLarge(request)) {
      const limit = `limit ${this.#context.maxRequest} bytes`;
      throw new RpcError(Code.RESOURCE_EXHAUSTED, `message too large: ${bytes.length} bytes, ${limit}`);
    }
    if (request.typeUrl === HEALTH) return this.#reported(request);
    if (isAside(request.typeUrl)) {
      this.#aside ??= new AsideRequests(this.#beside(), this.#context.aside);
      if (this.#aside.take(request)) return;
    }
    if (this.stream === undefined) this.#connect(request);
    // The call delivers the message again when the view has come.
    if (this.stream === undefined) return this.call.pause(bytes);
    this.stream.request(request);
    // Tunnels that come back send megabytes each.
    freeMessage(bytes);
  }

  /** What a large first request says counts only after the client is proven. */
  #takesLarge({ node }: AdsRequest): boolean {
    if (this.stream !== undefined) return this.stream.view.takesLarge === true;
    return node.length > 0 && this.#context.source.takesLarge?.(readNode(node)) === true;
  }

  /** Before the first discovery request the workload of the report is unknown. */
  #reported({ error }: AdsRequest): void {
    const view = this.stream?.view;
    if (view === undefined) return;
    if (view.reportHealth !== undefined) {
      return view.reportHealth(error === undefined ? { healthy: true } : { healthy: false, reason: error.message });
    }
    if (this.#isDisbelieved) return;
    this.#isDisbelieved = true;
    const why = "its identity is not proven";
    this.#context.log("warn", `a client reports the health of its workload, which counts for nothing: ${why}`, {
      connection: this.id,
    });
  }

  /** The client sends nothing more. Open questions for pages are still answered. */
  halfClose(): void {
    if (!this.#aside?.whenIdle(() => this.call.end())) this.call.end();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#aside?.close();
    if (this.stream !== undefined) {
      this.stream.close();
      if (this.delta) this.#context.owed.remember(this.node!.id!, this.stream.owed);
      this.#context.rejects.ended(this);
    }
    if (this.progress !== undefined) this.#context.ledger.leave(this.progress);
    this.progress = undefined;
    if (this.stream !== undefined) this.#context.onClose(this);
    this.#releasePush();
    this.#connecting?.close();
  }

  /** Ends the client's stream with UNAVAILABLE, so that the client reconnects. */
  disconnect(message: string): void {
    this.call.end(Code.UNAVAILABLE, message);
  }

  /** Sends the changes of a push. */
  push(taken: () => void): void {
    if (this.#closed) return taken();
    this.#onTaken = taken;
    try {
      this.stream?.reconcile();
    } catch (error) {
      this.#failed(error);
    }
    if (this.#untaken === 0) this.#releasePush();
  }

  /** Looks whether something has to be sent. */
  refresh(): boolean {
    try {
      return !this.call.closed && this.stream !== undefined && this.stream.refresh();
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  /**
   * An exception in a push ends the stream. The client keeps the resources, and gets a fresh stream after a reconnect.
   */
  #failed(error: unknown): void {
    const reason = errorMessage(error);
    this.#context.ledger.failed({ what: "stream", reason, proxy: this.id });
    this.call.fail(error);
  }

  #beside(): AsideStream {
    const { call } = this;
    const context = this.#context;
    return {
      delta: this.delta,
      node: () => this.node,
      client: (node) => this.#client(node),
      proxy: () => this.stream && { identity: this.stream.view.identity },
      send: (parts, taken) => call.send(parts, false, taken),
      fail: (error) => call.fail(error),
      onError: (error) => context.log("error", "a question was not answered", { connection: this.id, error }),
      onRefusedEvents: (error) => context.log("warn", "a client gets no events", { connection: this.id, error }),
    };
  }

  #client(node: Node): ConnectRequest {
    return { node, delta: this.delta, peer: this.call.peer, metadata: this.call.headers };
  }

  /** Asks the source for the view. If the source answers at once, the stream is open when this returns. */
  #connect(request: AdsRequest): void {
    const node = readNode(request.node.length > 0 ? request.node : this.#aside?.takeNode() ?? request.node);
    const { call } = this;
    const context = this.#context;
    const connecting = this.#connecting = new Connecting(context.connectTimeout, {
      opened: (view) => {
        this.#open(node, view);
        call.resume();
      },
      ended: (code, reason) => {
        context.log("info", "the source ends a stream", { node: node.id, address: this.address, reason });
        call.end(code, reason);
        this.close();
      },
      answered: (typeUrl, names) => {
        if (this.stream === undefined) return;
        this.stream.answered(typeUrl, names);
        context.onAnswered(this);
      },
      failed: (error) => {
        call.fail(error);
        this.close();
      },
    });
    const view = connecting.start(context.source, this.#client(node));
    if (view !== undefined) this.#open(node, view);
  }

  #open(node: Node, view: ProxyView): void {
    // The call ended while the view was made.
    if (this.call.closed) return this.close();
    const context = this.#context;
    [this.node, this.id] = [node, `${node.id}-${context.nextNumber()}`];
    this.stream = new AdsStream(noncePrefix(), view, {
      delta: this.delta,
      gzip: this.call.acceptsGzip,
      ...{ names: context.names, texts: context.texts, diffs: context.diffs, digests: context.digests },
      ...{ resources: context.resources, metrics: context.metrics, later: context.later },
      maxResponseBytes: context.maxResponseBytes,
      wantTimeout: context.wantTimeout,
      controlPlane: context.controlPlane,
      send: (parts, compressed, taken) => this.#send(parts, compressed, taken),
      onResponse: (info) => this.#responded(info),
      onReject: (info) => {
        const type = typeRules(info.typeUrl).short;
        context.metrics.count("pilot_total_xds_rejects", 1, { type });
        context.rejects.rejected(this, view.id, info.typeUrl, info.code);
        context.ledger.rejected(this.progress!, info);
        context.aside.events.events.rejected(this, info);
        context.log(info.repeated ? "debug" : "warn", "a client rejected a response", { connection: this.id, ...info });
      },
      onAccept: (typeUrl) => {
        context.rejects.accepted(this, typeUrl);
        context.ledger.accepted(this.progress!, typeUrl);
      },
      onIgnored: (typeUrl) => this.#ignored(typeUrl),
      onAnswered: () => context.onAnswered(this),
      onSettled: () => this.#settled(),
    }, context.owed.take(node.id!));
    this.progress = context.ledger.join(this.id, () => view.failing === true, this.stream.refusals);
    context.onOpen(this);
  }

  #send(parts: readonly Uint8Array[], compressed: boolean, taken: () => void): void {
    this.#untaken++;
    this.call.send(parts, compressed, () => {
      taken();
      if (--this.#untaken === 0) this.#releasePush();
    });
  }

  #responded(info: ResponseInfo): void {
    if (this.progress !== undefined) this.#context.ledger.responded(this.progress, info);
  }

  /** Logged once a stream, since a client may go on without end. */
  #ignored(typeUrl: string): void {
    this.#context.metrics.count("pilot_xds_ignored_types", 1);
    if (this.#ignoredTypes++ > 0) return;
    const limit = `${MAX_UNKNOWN_TYPES} types that this server does not know`;
    this.#context.log("warn", `a client asks for more than ${limit}; the others are ignored`, {
      connection: this.id,
      typeUrl,
    });
  }

  #settled(): void {
    if (this.progress === undefined) return;
    for (const push of this.#context.ledger.settled(this.progress)) {
      this.#context.metrics.observe("pilot_proxy_convergence_time", (Date.now() - push.startedAt) / 1000);
    }
  }

  #releasePush(): void {
    const onTaken = this.#onTaken;
    this.#onTaken = undefined;
    onTaken?.();
  }
}

/**
 * A nonce must not repeat on a later stream: a client's answer to the old stream would count as an answer on the new
 * one.
 */
function noncePrefix(): string {
  return crypto.getRandomValues(new Uint8Array(9)).toBase64({ alphabet: "base64url" });
}
