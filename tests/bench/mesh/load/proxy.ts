/**
 * One simulated proxy that asks as Envoy does: clusters and listeners, then the endpoints of the clusters, the routes
 * of the listeners, and one wildcard subscription for the virtual hosts of routes that want them one by one.
 *
 * Permissions: net (the server), env (grpc-js).
 *
 * @module
 */
import * as grpc from "@grpc/grpc-js";
import { encode } from "../../../../lib/pb/codec.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, VIRTUAL_HOST } from "../../../../lib/xds/types.ts";
import { service } from "../configuration.ts";
import type { LoadOptions } from "./protocol.ts";
import { assignmentOf, routesOf, type ScannedResponse, scanResponse, usesVhds } from "./response.ts";

const SERVICE = "/envoy.service.discovery.v3.AggregatedDiscoveryService/";
const asIs = (bytes: Uint8Array) => bytes as Buffer;

/** Who is told what a proxy receives. */
export interface ProxyEvents {
  message(proxy: SimulatedProxy, bytes: Uint8Array, response: ScannedResponse): void;
  failed(proxy: SimulatedProxy, message: string): void;
}

/** What it has subscribed to and received of one type. */
interface Watch {
  readonly names: Set<string>;
  /** Resources received: versions by name in delta, else only their number counts. */
  readonly versions: Map<string, string>;
  received: number;
  nonce: string;
  version: string;
}

/** See the module. */
export class SimulatedProxy {
  #client: grpc.Client | undefined;
  #stream: grpc.ClientDuplexStream<Uint8Array, Uint8Array> | undefined;
  #watches = new Map<string, Watch>();
  #greeted = false;
  #closing = false;
  readonly #node: object;

  constructor(
    readonly index: number,
    private readonly options: LoadOptions,
    private readonly events: ProxyEvents,
    private readonly intern: (bytes: Uint8Array) => string,
  ) {
    this.#node = node(index, options);
  }

  /** Connects; with what it had before, if it was connected. */
  connect(): void {
    const before = this.#watches;
    this.#watches = new Map();
    this.#greeted = this.#closing = false;
    this.#client = new grpc.Client(this.options.target, grpc.credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
      "grpc.max_receive_message_length": -1,
    });
    const method = this.options.delta ? "DeltaAggregatedResources" : "StreamAggregatedResources";
    this.#stream = this.#client.makeBidiStreamRequest(SERVICE + method, asIs, asIs);
    this.#stream.on("data", (bytes: Uint8Array) => this.#take(bytes));
    this.#stream.on("error", (error: Error) => this.#ended(error.message));
    this.#stream.on("end", () => this.#ended("the server ended the stream"));
    if (!this.options.delta || before.size === 0) {
      this.#subscribe(CLUSTER);
      this.#subscribe(LISTENER);
      return;
    }
    for (const typeUrl of [CLUSTER, LISTENER, ENDPOINTS, ROUTE, VIRTUAL_HOST]) {
      const had = before.get(typeUrl);
      if (had) this.#subscribe(typeUrl, had.names, had.versions);
    }
  }

  /** Closes the connection. */
  disconnect(): void {
    this.#closing = true;
    this.#stream?.cancel();
    this.#client?.close();
  }

  /** Whether everything that it asked for has come once. */
  get warm(): boolean {
    const has = (typeUrl: string) => {
      const watch = this.#watches.get(typeUrl);
      return watch !== undefined && watch.nonce !== "" && watch.received >= watch.names.size;
    };
    const hosts = this.#watches.has(VIRTUAL_HOST);
    return has(CLUSTER) && has(LISTENER) && has(ENDPOINTS) && has(ROUTE) && (!hosts || has(VIRTUAL_HOST));
  }

  #ended(message: string): void {
    if (!this.#closing) this.events.failed(this, message);
  }

  #take(bytes: Uint8Array): void {
    const response = scanResponse(bytes, this.options.delta, this.intern);
    const watch = this.#watches.get(response.typeUrl);
    if (!watch) return this.events.failed(this, `got ${response.typeUrl}, which it has not asked for`);
    watch.nonce = response.nonce;
    watch.version = response.version;
    watch.received += response.resources.length;
    for (const { name, version } of response.resources) if (name !== "") watch.versions.set(name, version);
    for (const name of response.removed) watch.versions.delete(name);
    this.#send(response.typeUrl, watch);
    this.#follow(response);
    this.events.message(this, bytes, response);
  }

  /** Subscribes to what the resources refer to. */
  #follow({ typeUrl, resources }: ScannedResponse): void {
    const { intern } = this;
    if (typeUrl === CLUSTER) {
      this.#subscribe(ENDPOINTS, resources.map((r) => assignmentOf(r.value, intern)).filter((n) => n !== undefined));
    } else if (typeUrl === LISTENER) {
      this.#subscribe(ROUTE, resources.flatMap((r) => [...routesOf(r.value, intern)]));
    } else if (typeUrl === ROUTE && this.options.delta && !this.#watches.has(VIRTUAL_HOST)) {
      if (resources.some((r) => usesVhds(r.value))) this.#subscribe(VIRTUAL_HOST);
    }
  }

  #subscribe(typeUrl: string, names: Iterable<string> = [], versions?: ReadonlyMap<string, string>): void {
    let watch = this.#watches.get(typeUrl);
    const first = watch === undefined;
    if (!watch) {
      watch = { names: new Set(), versions: new Map(versions), received: versions?.size ?? 0, nonce: "", version: "" };
      this.#watches.set(typeUrl, watch);
    }
    const fresh: string[] = [];
    for (const name of names) {
      if (watch.names.has(name)) continue;
      watch.names.add(name);
      fresh.push(name);
    }
    if (first || fresh.length > 0) this.#send(typeUrl, watch, fresh, first ? versions : undefined);
  }

  #send(typeUrl: string, watch: Watch, fresh: readonly string[] = [], versions?: ReadonlyMap<string, string>): void {
    const common = {
      type_url: typeUrl,
      // A request that subscribes is no answer: its nonce is empty in delta.
      response_nonce: this.options.delta && fresh.length > 0 ? "" : watch.nonce,
      ...!this.#greeted && { node: this.#node },
    };
    this.#greeted = true;
    const bytes = this.options.delta
      ? encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", {
        ...common,
        resource_names_subscribe: fresh,
        ...versions && { initial_resource_versions: Object.fromEntries(versions) },
      })
      : encode("envoy.service.discovery.v3.DiscoveryRequest", {
        ...common,
        version_info: watch.version,
        resource_names: [...watch.names],
      });
    this.#stream!.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  }
}

function node(index: number, { shape }: LoadOptions): object {
  const { name, namespace, endpoint } = service(shape, index);
  const text = (value: string) => ({ string_value: value });
  const labels = { fields: { app: text(name), version: text("v1") } };
  return {
    id: `sidecar~${endpoint(0)}~pod-${index}.${namespace}~${namespace}.svc.cluster.local`,
    cluster: `${name}.${namespace}`,
    user_agent_name: "envoy",
    metadata: {
      fields: {
        NAMESPACE: text(namespace),
        INSTANCE_IPS: text(endpoint(0)),
        CLUSTER_ID: text("Orch"),
        MESH_VERSION: text("1.27.0"),
        LABELS: { struct_value: labels },
        SERVICE_ACCOUNT: text("default"),
      },
    },
  };
}
