/**
 * A simulated proxy that subscribes like Envoy: clusters and listeners, then the endpoints of clusters, the routes of
 * listeners, and a wildcard subscription to virtual hosts if routes use VHDS. A proxy that asks for what it calls then asks
 * for the virtual host of each called host, in a request of its own, as Envoy does when the host's first request comes.
 *
 * Permissions: net (the server).
 *
 * @module
 */
import { encode } from "../../../../lib/pb/codec.ts";
import { concatBytes } from "../../../../lib/resource/block.ts";
import { NAME_TABLE_TYPE_URL } from "../../../../lib/translate/name_table/encode.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, VIRTUAL_HOST } from "../../../../lib/xds/protocol/types.ts";
import { service } from "../configuration.ts";
import { doorAddress, doorLabels, GATEWAY } from "../gateway_routes.ts";
import { calledHosts } from "./calls.ts";
import { type Knowledge, type Known, look } from "./knowledge.ts";
import type { LoadOptions } from "./protocol.ts";
import { anyValue, type ScannedResponse, scanResponse } from "./response.ts";
import { GrpcStream } from "./stream.ts";

const SERVICE = "/envoy.service.discovery.v3.AggregatedDiscoveryService/";

/** Receives the events of a proxy. */
export interface ProxyEvents {
  message(proxy: SimulatedProxy, bytes: Uint8Array, response: ScannedResponse): void;
  wire(bytes: number): void;
  failed(proxy: SimulatedProxy, message: string): void;
}

/** Subscriptions and received resources of a type. */
interface Watch {
  readonly names: Set<string>;
  /** Delta: held resources by name. */
  readonly held: Map<string, Known>;
  received: number;
  nonce: string;
  version: string;
}

export class SimulatedProxy {
  #stream: GrpcStream | undefined;
  #watches = new Map<string, Watch>();
  #greeted = false;
  /** Questions for virtual hosts without an answer. */
  readonly #unanswered: Set<string>;

  constructor(
    readonly index: number,
    private readonly options: LoadOptions,
    private readonly events: ProxyEvents,
    private readonly knowledge: Knowledge,
  ) {
    const called = options.onDemand ? calledHosts(options.shape, index) : [];
    this.#unanswered = new Set(called.map((host) => `80/${host}`));
  }

  /** Connects, with the previous state after an earlier connection. */
  connect(): void {
    const { target, delta, gzip, tls } = this.options;
    const before = this.#watches;
    this.#watches = new Map();
    this.#greeted = false;
    this.#stream = new GrpcStream({
      message: (bytes) => this.#take(bytes),
      wire: (bytes) => this.events.wire(bytes),
      ended: (reason) => this.events.failed(this, reason),
    });
    const [hostname, port] = target.split(":");
    const method = delta ? "DeltaAggregatedResources" : "StreamAggregatedResources";
    const own = tls && { root: tls.root, ...tls.clients[this.index % tls.clients.length]! };
    void this.#stream.open(hostname!, Number(port), SERVICE + method, gzip, {}, own);
    if (!delta || before.size === 0) {
      this.#subscribe(CLUSTER);
      this.#subscribe(LISTENER);
      if (this.options.names) this.#subscribe(NAME_TABLE_TYPE_URL);
      return;
    }
    for (const typeUrl of [CLUSTER, ENDPOINTS, LISTENER, ROUTE, VIRTUAL_HOST, NAME_TABLE_TYPE_URL]) {
      const had = before.get(typeUrl);
      if (had) this.#subscribe(typeUrl, had.names, had.held);
    }
  }

  /** Closes the connection. */
  disconnect(): void {
    this.#stream?.close();
  }

  /** Resolves when the server has received all sent messages. */
  acknowledged(): Promise<void> {
    return this.#stream!.answered();
  }

  /** Whether every requested resource has arrived once. */
  get warm(): boolean {
    const has = (typeUrl: string) => {
      const watch = this.#watches.get(typeUrl);
      return watch !== undefined && watch.nonce !== "" && watch.received >= watch.names.size;
    };
    const hosts = this.#watches.has(VIRTUAL_HOST);
    if (this.#unanswered.size > 0) return false;
    const names = !this.options.names || has(NAME_TABLE_TYPE_URL);
    return names && has(CLUSTER) && has(LISTENER) && has(ENDPOINTS) && has(ROUTE) && (!hosts || has(VIRTUAL_HOST));
  }

  #take(bytes: Uint8Array): void {
    const response = scanResponse(bytes);
    const { typeUrl, resources } = response;
    const watch = this.#watches.get(typeUrl);
    if (!watch) return this.events.failed(this, `got ${typeUrl}, which it has not asked for`);
    watch.nonce = response.nonce;
    watch.version = response.version;
    watch.received += resources.length;
    this.#send(typeUrl, watch);
    const refers: string[] = [];
    let vhds = false;
    for (const resource of resources) {
      let known: Pick<Known, "refers" | "vhds">;
      if (this.options.delta) {
        const whole = known = this.knowledge.read(typeUrl, resource);
        watch.held.set(whole.name, whole);
        for (const name of whole.aliases) this.#unanswered.delete(name);
      } else known = look(typeUrl, anyValue(resource));
      refers.push(...known.refers);
      vhds ||= known.vhds;
    }
    if (typeUrl === CLUSTER) this.#subscribe(ENDPOINTS, refers);
    else if (typeUrl === LISTENER) this.#subscribe(ROUTE, refers);
    else if (vhds && this.options.delta && !this.#watches.has(VIRTUAL_HOST)) {
      this.#subscribe(VIRTUAL_HOST);
      for (const name of this.#unanswered) this.#subscribe(VIRTUAL_HOST, [name]);
    }
    this.events.message(this, bytes, response);
  }

  #subscribe(typeUrl: string, names: Iterable<string> = [], held?: ReadonlyMap<string, Known>): void {
    let watch = this.#watches.get(typeUrl);
    const first = watch === undefined;
    if (!watch) {
      watch = { names: new Set(), held: new Map(held), received: held?.size ?? 0, nonce: "", version: "" };
      this.#watches.set(typeUrl, watch);
    }
    const fresh: string[] = [];
    for (const name of names) {
      if (watch.names.has(name)) continue;
      watch.names.add(name);
      fresh.push(name);
    }
    if (first || fresh.length > 0) this.#send(typeUrl, watch, fresh, first ? held : undefined);
  }

  /**
   * Requests consist of a few fields and long lists of entries that are equal for all proxies. The lists are encoded
   * once.
   */
  #send(typeUrl: string, watch: Watch, fresh: readonly string[] = [], held?: ReadonlyMap<string, Known>): void {
    const { delta } = this.options;
    const head = encode(`envoy.service.discovery.v3.${delta ? "Delta" : ""}DiscoveryRequest`, {
      type_url: typeUrl,
      // In delta, a subscribing request is not an answer, so it has no nonce.
      response_nonce: delta && fresh.length > 0 ? "" : watch.nonce,
      ...!delta && { version_info: watch.version },
      ...!this.#greeted && { node: node(this.index, this.options) },
    });
    this.#greeted = true;
    const parts = [head];
    for (const name of delta ? fresh : watch.names) parts.push(this.knowledge.subscription(name));
    for (const known of held?.values() ?? []) parts.push(known.held);
    this.#stream!.send(concatBytes(parts));
  }
}

/** Who a proxy is. */
interface Workload {
  readonly type: "sidecar" | "router";
  readonly address: string;
  readonly pod: string;
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Proxies are those of the mesh's Gateway, if the mesh has one; else each is the sidecar of another service. */
function workload(index: number, { shape }: LoadOptions): Workload {
  if (shape.gateway !== undefined) {
    const { name, namespace } = GATEWAY;
    return { type: "router", address: doorAddress(index), pod: `door-${index}`, name, namespace, labels: doorLabels() };
  }
  const { name, namespace, endpoint } = service(shape, index);
  const labels = { app: name, version: "v1" };
  return { type: "sidecar", address: endpoint(0), pod: `pod-${index}`, name, namespace, labels };
}

function node(index: number, options: LoadOptions): object {
  const { type, address, pod, name, namespace, labels } = workload(index, options);
  const text = (value: string) => ({ stringValue: value });
  const texts = Object.fromEntries(Object.entries(labels).map(([label, value]) => [label, text(value)]));
  return {
    id: `${type}~${address}~${pod}.${namespace}~${namespace}.svc.cluster.local`,
    cluster: `${name}.${namespace}`,
    user_agent_name: "envoy",
    metadata: {
      fields: {
        NAMESPACE: text(namespace),
        INSTANCE_IPS: text(address),
        CLUSTER_ID: text("Orch"),
        MESH_VERSION: text("1.27.0"),
        LABELS: { structValue: { fields: texts } },
        SERVICE_ACCOUNT: text("default"),
        ...options.onDemand && { ON_DEMAND: text("true") },
        ...options.names && { DNS_CAPTURE: text("true") },
      },
    },
  };
}
