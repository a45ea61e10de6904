/**
 * A proxy that follows all clusters and endpoints over delta ADS, and notes losses.
 *
 * Permissions: net (the server).
 * @module
 */
import * as grpc from "@grpc/grpc-js";
import { encode } from "../../../lib/pb/codec.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { CLUSTER, ENDPOINTS } from "../../../lib/xds/protocol/types.ts";
import { PATIENCE } from "../../patience.ts";

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
const same = (bytes: Uint8Array) => Buffer.from(bytes);

interface Answer {
  readonly type_url: string;
  readonly nonce: string;
  readonly resources?: readonly { readonly name: string; readonly resource: { readonly value: Uint8Array } }[];
  readonly removed_resources?: readonly string[];
}

interface Assignment {
  readonly cluster_name: string;
  readonly endpoints?: readonly {
    readonly lb_endpoints?: readonly {
      readonly endpoint: { readonly address: { readonly socket_address: { readonly address: string } } };
    }[];
  }[];
}

export class XdsWatch implements Disposable {
  /** Removed clusters, and clusters whose last endpoint was removed. */
  readonly lost: string[] = [];
  /** Addresses by cluster. */
  readonly endpoints = new Map<string, readonly string[]>();
  readonly #client: grpc.Client;
  readonly #call: grpc.ClientDuplexStream<Uint8Array, Uint8Array>;
  readonly #waiting = new Set<() => void>();

  constructor(port: number, namespace: string) {
    this.#client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
    this.#call = this.#client.makeBidiStreamRequest(ADS, same, same);
    this.#call.on("error", (error) => this.lost.push(`the stream: ${error.message}`));
    this.#call.on("data", (bytes: Uint8Array) => this.#take(bytes));
    this.#send({
      node: { id: `sidecar~10.9.1.1~client.${namespace}~${namespace}.svc.cluster.local` },
      type_url: CLUSTER,
    });
  }

  /**
   * Resolves when a cluster has the given addresses.
   *
   * @throws {Error} after a time
   */
  async has(cluster: string, addresses: readonly string[]): Promise<void> {
    const over = Promise.withResolvers<void>();
    const look = () => {
      if (this.endpoints.get(cluster)?.toSorted().join() === addresses.toSorted().join()) over.resolve();
    };
    this.#waiting.add(look);
    const timer = setTimeout(() => {
      over.reject(new Error(`${cluster}: got ${this.endpoints.get(cluster)}, expected ${addresses}`));
    }, PATIENCE);
    look();
    await over.promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(look);
    });
  }

  [Symbol.dispose](): void {
    this.#call.removeAllListeners("error").on("error", () => {});
    this.#call.cancel();
    this.#client.close();
  }

  #send(request: object): void {
    this.#call.write(encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", request));
  }

  #take(bytes: Uint8Array): void {
    const answer = decode<Answer>("envoy.service.discovery.v3.DeltaDiscoveryResponse", bytes);
    const { type_url, nonce, resources = [], removed_resources: gone = [] } = answer;
    this.lost.push(...gone);
    if (type_url === CLUSTER) {
      const names = resources.map(({ name }) => name).filter((name) => name.startsWith("outbound|"));
      if (names.length > 0) this.#send({ type_url: ENDPOINTS, resource_names_subscribe: names });
    }
    for (const { resource } of type_url === ENDPOINTS ? resources : []) {
      const read = decode<Assignment>("envoy.config.endpoint.v3.ClusterLoadAssignment", resource.value);
      const now = (read.endpoints ?? []).flatMap(({ lb_endpoints = [] }) =>
        lb_endpoints.map(({ endpoint }) => endpoint.address.socket_address.address)
      );
      if (now.length === 0 && (this.endpoints.get(read.cluster_name)?.length ?? 0) > 0) {
        this.lost.push(read.cluster_name);
      }
      this.endpoints.set(read.cluster_name, now);
    }
    this.#send({ type_url, response_nonce: nonce });
    for (const look of this.#waiting) look();
  }
}
