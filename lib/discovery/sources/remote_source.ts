/**
 * Another control plane as a source of configuration: `configSources` with `xds://HOST:PORT`. While the control plane
 * is away, its last objects stay in force, and it is called again.
 *
 * Permissions: net (the control plane's address), read (the files of its TLS settings).
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { KIND_WIRE_TYPES } from "../../mcp/wire_types.ts";
import { type Finding, findingChanges } from "../../finding/finding.ts";
import type { StoreSource } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import { ServerStream, type ServerStreamOptions } from "../../grpc/client/server_stream.ts";
import type { SourceTrouble } from "./source_state.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { paced } from "../../kernel/time/paced.ts";
import { KindList } from "../../mcp/kind_list.ts";
import { KindClientMachine, type KindRequest, type KindResponse } from "../../mcp/machine.ts";
import { BackOff } from "../../orch/informer/back_off.ts";
import { encode } from "../../pb/codec.ts";
import { decode } from "../../pb/reflect.ts";
import type { FindingsListener } from "./feed.ts";

export interface RemoteSourceParts extends ServerStreamOptions {
  /** `xds://HOST:PORT`, the source's name in origins. */
  readonly address: string;
  /** The node of this server in requests. */
  readonly node: object;
  readonly target: StoreSource;
  readonly onFindings: FindingsListener;
}

const METHOD = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";

/** Life of a stream after which the back-off is reset, milliseconds. */
const LONG_MS = 30_000;

export class RemoteSource {
  readonly #parts: RemoteSourceParts;
  readonly #kernel: Pick<Kernel, "log" | "clock">;
  readonly #machine: KindClientMachine;
  readonly #lists: ReadonlyMap<object, KindList>;
  readonly #synced = Promise.withResolvers<void>();
  readonly #ending = new AbortController();
  readonly #backOff = new BackOff();
  #stream: ServerStream | undefined;
  #running: Promise<void> | undefined;
  /** Takes responses one after the other. */
  #taking: Promise<void> = Promise.resolve();
  #trouble = "";
  #troubledSince = 0;

  constructor(parts: RemoteSourceParts, kernel: Pick<Kernel, "log" | "clock">) {
    this.#parts = parts;
    this.#kernel = kernel;
    this.#machine = new KindClientMachine(KIND_WIRE_TYPES, parts.node);
    this.#lists = new Map(KIND_WIRE_TYPES.map((type) => [type, new KindList(type, parts.address)]));
  }

  /** Begins. Resolves when all objects are in the store, however long the control plane is away. */
  async start(): Promise<void> {
    this.#running ??= this.#run();
    await this.#synced.promise;
  }

  /** The address of the control plane. */
  get name(): string {
    return this.#parts.address;
  }

  /** Why the control plane is away, and since when (milliseconds since the epoch); undefined: the stream is open. */
  trouble(): SourceTrouble | undefined {
    return this.#trouble === "" ? undefined : { problem: this.#trouble, since: this.#troubledSince };
  }

  /** The findings about the objects of the source. */
  *findings(): Generator<Finding> {
    for (const list of this.#lists.values()) yield* list.findings();
  }

  /** Whether the present version of an object is refused, so that its last good version is in force. */
  isStale(object: ConfigObject): boolean {
    return [...this.#lists.values()].some((list) => list.isStale(object));
  }

  /** Ends; the objects in the store stay. */
  async stop(): Promise<void> {
    this.#ending.abort(new Error("stopped"));
    this.#stream?.close();
    this.#synced.resolve();
    await this.#running;
    await this.#taking;
  }

  async #run(): Promise<void> {
    const { clock } = this.#kernel;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const began = clock.monotonic();
      const reason = await this.#streamOnce();
      if (signal.aborted) return;
      this.#report(reason);
      if (clock.monotonic() - began > LONG_MS) this.#backOff.reset();
      await clock.sleep(this.#backOff.next(), signal).catch(() => {});
    }
  }

  /** One stream from call to end. @returns the reason of the end */
  #streamOnce(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const { signal } = this.#ending;
    const stopped = () => resolve("stopped");
    signal.addEventListener("abort", stopped, { once: true });
    const stream: ServerStream = new ServerStream(METHOD, {
      opened: () => {
        for (const request of this.#machine.opened()) send(stream, request);
      },
      message: (bytes) => {
        this.#taking = this.#taking.then(() => this.#take(stream, bytes)).catch((error) => {
          if (signal.aborted) return;
          stream.close();
          resolve(errorMessage(error));
        });
      },
      closed: resolve,
    }, this.#parts);
    this.#stream = stream;
    return promise.finally(() => signal.removeEventListener("abort", stopped));
  }

  async #take(stream: ServerStream, bytes: Uint8Array): Promise<void> {
    const { signal } = this.#ending;
    if (signal.aborted || stream !== this.#stream) return;
    const response = decode<KindResponse>("envoy.service.discovery.v3.DiscoveryResponse", bytes);
    const type = this.#machine.kindOf(response);
    const list = type && this.#lists.get(type);
    if (list === undefined) return;
    const before = [...list.findings()];
    const { upserted, removed, refused } = await paced(list.take(response.resources ?? []), { signal });
    this.#parts.target.apply({ upserted, removed });
    this.#parts.onFindings(findingChanges(before, [...list.findings()]));
    if (refused.length > 0) this.#log("warn", "objects cannot be read; their last versions stay", { why: refused });
    const isTaken = refused.length === 0;
    send(stream, isTaken ? this.#machine.taken(response) : this.#machine.refused(response, refused.join("; ")));
    if (this.#machine.synced) {
      this.#works();
      this.#synced.resolve();
    }
  }

  /** A lasting trouble is logged once. */
  #report(reason: string): void {
    if (this.#trouble === reason) return;
    if (this.#trouble === "") this.#troubledSince = this.#kernel.clock.now();
    this.#trouble = reason;
    this.#log("warn", "the control plane is away; its known objects stay, and the server calls again", { why: reason });
  }

  #works(): void {
    if (this.#trouble === "") return;
    this.#trouble = "";
    this.#log("info", "the control plane is back", {});
  }

  #log(level: "info" | "warn", message: string, fields: object): void {
    this.#kernel.log.scope("default")[level](`configuration of another control plane: ${message}`, {
      address: this.#parts.address,
      ...fields,
    });
  }
}

function send(stream: ServerStream, request: KindRequest): void {
  stream.send(encode("envoy.service.discovery.v3.DiscoveryRequest", request));
}
