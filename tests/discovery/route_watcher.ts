/**
 * A proxy at a running server that asks for route configurations, acknowledges everything, and keeps every route
 * configuration that it ever got.
 * @module
 */
import * as grpc from "@grpc/grpc-js";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { messageJson } from "../../lib/pb/json.ts";
import { CLUSTER, LISTENER, ROUTE } from "../../lib/xds/protocol/types.ts";

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const same = (bytes: Uint8Array) => Buffer.from(bytes);

interface Response {
  readonly type_url: string;
  readonly nonce: string;
  readonly version_info: string;
  readonly resources?: readonly { readonly value: Uint8Array }[];
}

export class RouteWatcher implements Disposable {
  /** The JSON of each route configuration, as it came. */
  readonly got: string[] = [];
  readonly #client: grpc.Client;
  readonly #call: grpc.ClientDuplexStream<Uint8Array, Uint8Array>;
  readonly #names: readonly string[];
  readonly #waiting = new Set<() => void>();

  /** @param names of the route configurations */
  constructor(port: number, node: object, names: readonly string[]) {
    this.#names = names;
    this.#client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    });
    this.#call = this.#client.makeBidiStreamRequest(ADS, same, same, new grpc.Metadata());
    // The test itself ends the stream.
    this.#call.on("error", () => {});
    this.#call.on("data", (bytes: Uint8Array) => this.#take(bytes));
    this.#send({ node, type_url: CLUSTER });
    this.#send({ type_url: LISTENER });
    this.#send({ type_url: ROUTE, resource_names: names });
  }

  /** Resolves when the last route configuration fulfils a condition. */
  async until(condition: (last: string) => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => {
      const last = this.got.at(-1);
      if (last !== undefined && condition(last)) resolve();
    };
    this.#waiting.add(look);
    look();
    await promise;
    this.#waiting.delete(look);
  }

  [Symbol.dispose](): void {
    this.#call.cancel();
    this.#client.close();
  }

  #take(bytes: Uint8Array): void {
    const { type_url, nonce, version_info, resources = [] } = decode(
      "envoy.service.discovery.v3.DiscoveryResponse",
      bytes,
    ) as Response;
    const names = type_url === ROUTE ? { resource_names: this.#names } : {};
    this.#send({ type_url, response_nonce: nonce, version_info, ...names });
    if (type_url !== ROUTE) return;
    for (const { value } of resources) {
      this.got.push(JSON.stringify(messageJson("envoy.config.route.v3.RouteConfiguration", value)));
    }
    for (const look of this.#waiting) look();
  }

  #send(request: object): void {
    this.#call.write(encode("envoy.service.discovery.v3.DiscoveryRequest", request));
  }
}
