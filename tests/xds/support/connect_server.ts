/**
 * A discovery server over a transport in memory. Its source answers `connect` on the test's command.
 * @module
 */
import { encode } from "../../../lib/pb/codec.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { concatBytes } from "../../../lib/resource/block.ts";
import type { ConnectControl, ConnectRequest, ProxyView, ResourceSource } from "../../../lib/xds/protocol/source.ts";
import { CLUSTER, LISTENER } from "../../../lib/xds/protocol/types.ts";
import { XdsServer, type XdsServerOptions } from "../../../lib/xds/server.ts";
import { callHeaders, MemoryClient, messageData } from "../../grpc/support/grpc_client.ts";
import { AT_ONCE } from "../../grpc/support/h2_client.ts";
import { MemorySource, textResource } from "./memory_source.ts";

const PATH = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";

interface ViewSource {
  connect(request: ConnectRequest, control: ConnectControl): ProxyView;
}

/** A call of `connect` for the test to answer. */
export class PendingConnect {
  readonly #answer = Promise.withResolvers<ProxyView>();
  #settled = false;

  constructor(readonly request: ConnectRequest, readonly control: ConnectControl, readonly source: ViewSource) {}

  get answer(): Promise<ProxyView> {
    return this.#answer.promise;
  }

  /** Makes the view as the answer. */
  make(): ProxyView {
    this.#settled = true;
    return this.source.connect(this.request, this.control);
  }

  /** Answers with a view, unless there is an answer. */
  resolve(): void {
    if (!this.#settled) this.#answer.resolve(this.make());
  }

  /** Answers with an error, unless there is an answer. */
  refuse(error: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#answer.reject(error);
  }
}

/** Keeps each call of `connect`, by the id of its node. */
export class PendingSource implements ResourceSource {
  readonly ready = true;
  readonly memory: MemorySource;
  readonly connects = new Map<string, PendingConnect>();
  /** Nodes with an immediate answer. */
  readonly atOnce = new Set<string>();
  /** Called inside `connect`. */
  onConnect: ((connect: PendingConnect) => void) | undefined;

  constructor(memory = new MemorySource()) {
    this.memory = memory
      .change(CLUSTER, [textResource(CLUSTER, "c", "c=1")]).change(LISTENER, [textResource(LISTENER, "l", "l=1")]);
  }

  connect(request: ConnectRequest, control: ConnectControl): ProxyView | Promise<ProxyView> {
    const connect = new PendingConnect(request, control, this.memory);
    this.connects.set(request.node.id!, connect);
    this.onConnect?.(connect);
    return this.atOnce.has(request.node.id!) ? connect.make() : connect.answer;
  }

  onPush(listener: Parameters<ResourceSource["onPush"]>[0]): () => void {
    return this.memory.onPush(listener);
  }
}

/** A server with its source and a client. Streams of the client have odd numbers, which also name their nodes. */
export class ConnectServer {
  readonly source: PendingSource;
  readonly errors: unknown[] = [];
  readonly logged: string[] = [];
  readonly server: XdsServer;
  readonly client: MemoryClient;
  readonly #opened = new Set<number>();

  constructor(options: Partial<XdsServerOptions> = {}, memory?: MemorySource) {
    this.source = new PendingSource(memory);
    this.server = new XdsServer({
      source: this.source,
      resources: this.source.memory.table,
      maxRequestsPerSecond: 1_000_000,
      log: (level, message, { error }) => {
        if (level === "error") this.errors.push(error);
        else this.logged.push(message);
      },
      ...options,
      grpc: { turns: AT_ONCE, ...options.grpc },
    });
    this.client = new MemoryClient(this.server.grpc);
  }

  /** Sends a request; `flags` 1: the last request. */
  ask(stream: number, type_url: string, flags = 0, resource_names: readonly string[] = []): void {
    if (!this.#opened.has(stream)) this.client.send(callHeaders(stream, PATH));
    this.#opened.add(stream);
    const request = { type_url, resource_names, node: { id: String(stream) } };
    this.client.send(messageData(stream, encode("envoy.service.discovery.v3.DiscoveryRequest", request), flags));
  }

  /** Sends a request without the node, like the later requests of clients. */
  askWithoutNode(stream: number, type_url: string): void {
    this.client.send(messageData(stream, encode("envoy.service.discovery.v3.DiscoveryRequest", { type_url })));
  }

  connectOf(stream: number): PendingConnect {
    const connect = this.source.connects.get(String(stream));
    if (connect === undefined) throw new Error(`stream ${stream} has not asked for its view`);
    return connect;
  }

  /** Types of the responses on a stream, in order. */
  received(stream: number): string[] {
    const bytes = concatBytes(this.client.content.get(stream) ?? []);
    const types: string[] = [];
    for (let at = 0; at < bytes.length;) {
      const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + 1);
      const message = bytes.subarray(at + 5, at + 5 + length);
      types.push(decode<{ type_url: string }>("envoy.service.discovery.v3.DiscoveryResponse", message).type_url);
      at += 5 + length;
    }
    return types;
  }

  /** The stream's end: the status and its text. */
  end(stream: number): [string | undefined, string | undefined] {
    return [this.client.ends.get(stream), this.client.texts.get(stream)];
  }

  get streams(): number {
    return [...this.server.streams()].length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop(0);
  }
}
