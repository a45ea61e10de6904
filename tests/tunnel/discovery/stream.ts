/**
 * One connection of a node tunnel to its discovery server: asks for addresses and policies, takes what is right,
 * rejects what is wrong by name, and begins with the names and versions that the tunnel holds.
 *
 * Permissions: net (the server).
 *
 * @module
 */
import * as grpc from "@grpc/grpc-js";
import { encode } from "../../../lib/pb/codec.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { HeldResources, TUNNEL_TYPES, type TunnelSort } from "./held.ts";

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
const same = (bytes: Uint8Array) => Buffer.from(bytes);

/** A response, in short. */
export interface TunnelResponse {
  readonly type: TunnelSort;
  readonly names: readonly string[];
  readonly removed: readonly string[];
}

/** The end of a connection. */
export interface StreamEnd {
  readonly code: string;
  readonly details: string;
}

/** Who the tunnel is, and how it asks. */
export interface StreamOptions {
  /** Node id. */
  readonly id: string;
  /** Texts of the node's metadata. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The server's root certificate, as PEM. Default: a connection without TLS. */
  readonly root?: string;
  /** What earlier connections left, which goes on. Default: nothing. */
  readonly held?: HeldResources;
  /** Sends no versions back, as older tunnels. */
  readonly emptyVersions?: boolean;
  /** Asks for addresses one by one. */
  readonly onDemand?: boolean;
  /** Why a resource is wrong although its content is right. */
  readonly alsoWrong?: (name: string) => string | undefined;
  /** Sends the answer to a response, at once or later. Default: at once. */
  readonly answers?: (type: TunnelSort, send: () => void) => void;
}

interface WireResponse {
  readonly type_url: string;
  readonly nonce: string;
  readonly resources?: readonly {
    readonly name: string;
    readonly version?: string;
    readonly resource: { readonly value?: Uint8Array };
  }[];
  readonly removed_resources?: readonly string[];
}

/** A connection. */
export class TunnelStream implements Disposable {
  readonly held: HeldResources;
  /** The status that ended the stream. */
  ended: StreamEnd | undefined;
  readonly #options: StreamOptions;
  readonly #client: grpc.Client;
  readonly #call: grpc.ClientDuplexStream<Uint8Array, Uint8Array>;
  readonly #answered = new Set<TunnelSort>();
  readonly #changed: (response: TunnelResponse | undefined) => void;

  /**
   * @param server `HOST:PORT`
   * @param changed Called for each response, and without a response at the end.
   */
  constructor(server: string, options: StreamOptions, changed: (response: TunnelResponse | undefined) => void) {
    this.#options = options;
    this.#changed = changed;
    this.held = options.held ?? new HeldResources();
    const metadata = new grpc.Metadata();
    for (const [key, value] of Object.entries(options.headers ?? {})) metadata.set(key, value);
    const { root } = options;
    const credentials = root === undefined
      ? grpc.credentials.createInsecure()
      : grpc.credentials.createSsl(Buffer.from(root));
    this.#client = new grpc.Client(server, credentials, {
      "grpc.max_receive_message_length": -1,
      "grpc.use_local_subchannel_pool": 1,
    });
    this.#call = this.#client.makeBidiStreamRequest(ADS, same, same, metadata);
    this.#call.on("error", ({ code, details }: grpc.ServiceError) => this.#end(grpc.status[code] ?? "", details));
    this.#call.on("end", () => this.#end("OK", "the server ended the stream"));
    this.#call.on("data", (bytes: Uint8Array) => this.#take(bytes));
    const fields = Object.fromEntries(
      Object.entries(options.metadata).map(([key, text]) => [key, { stringValue: text }]),
    );
    const node = { id: options.id, metadata: { fields } };
    for (const sort of ["addresses", "policies"] as const) {
      this.#send({ node, type_url: TUNNEL_TYPES[sort], ...this.#first(sort) });
    }
  }

  [Symbol.dispose](): void {
    this.#call.removeAllListeners("error").on("error", () => {});
    this.#call.cancel();
    this.#client.close();
  }

  /** Both types have been answered, and the answers have been acknowledged or rejected. */
  get isReady(): boolean {
    return this.#answered.size === 2;
  }

  /** Asks for an address by its name or alias. */
  demand(name: string): void {
    this.#send({ type_url: TUNNEL_TYPES.addresses, resource_names_subscribe: [name] });
  }

  #first(sort: TunnelSort): object {
    const { emptyVersions = false, onDemand = false } = this.#options;
    const held = Object.entries(this.held.versions(sort)).map((
      [name, version],
    ) => [name, emptyVersions ? "" : version]);
    const versions = held.length === 0 ? {} : { initial_resource_versions: Object.fromEntries(held) };
    if (!onDemand || sort === "policies") return versions;
    // Both at once: a subscription to nothing.
    return { ...versions, resource_names_subscribe: ["*"], resource_names_unsubscribe: ["*"] };
  }

  #take(bytes: Uint8Array): void {
    const response = decode<WireResponse>("envoy.service.discovery.v3.DeltaDiscoveryResponse", bytes);
    const { type_url, nonce, resources = [], removed_resources: removed = [] } = response;
    const type = type_url === TUNNEL_TYPES.addresses ? "addresses" : "policies";
    const content = resources.map(({ name, version = "", resource: { value: bytes = new Uint8Array() } }) => ({
      ...{ name, version, bytes },
    }));
    const fault = this.held.take(type, { resources: content, removed }, this.#options.alsoWrong);
    const error = fault === undefined ? {} : { error_detail: { code: 13, message: fault } };
    const answer = () => {
      this.#send({ type_url, response_nonce: nonce, ...error });
      // A tunnel whose first response is wrong does not get ready.
      if (fault === undefined) this.#answered.add(type);
    };
    const { answers = (_, send) => send() } = this.#options;
    answers(type, answer);
    this.#changed({ type, names: content.map(({ name }) => name).sort(), removed });
  }

  #end(code: string, details: string): void {
    this.ended ??= { code, details };
    this.#changed(undefined);
  }

  #send(request: object): void {
    this.#call.write(encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", request));
  }
}
