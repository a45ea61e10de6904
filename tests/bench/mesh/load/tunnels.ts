/**
 * Node tunnels at a server: all ask for policies and addresses, acknowledge, and come back with the versions that the
 * first of them was given.
 *
 * Permissions: net (the server).
 *
 * @module
 */
import { encode } from "../../../../lib/pb/codec.ts";
import { WireCursor } from "../../../../lib/resource/protowire.ts";
import { ADDRESS, AUTHORIZATION } from "../../../../lib/xds/protocol/types.ts";
import { scanResponse } from "./response.ts";
import { GrpcStream } from "./stream.ts";

const METHOD = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

/** What all tunnels were sent in a step. */
export interface TunnelStep {
  /** Milliseconds from the start of the step to the last awaited response. */
  readonly last: number;
  readonly resources: number;
  readonly wireBytes: number;
}

/** So many tunnels. */
export class TunnelLoad {
  readonly #target: string;
  readonly #count: number;
  #streams: GrpcStream[] = [];
  #resources = 0;
  #wireBytes = 0;
  /** Versions by type and name, of the first tunnel. */
  readonly #versions = new Map<string, Map<string, string>>();
  #onResponse: (tunnel: number, typeUrl: string) => void = () => {};
  #failed: (reason: string) => void = () => {};

  constructor(target: string, count: number) {
    this.#target = target;
    this.#count = count;
  }

  /** All tunnels connect. Over when each has an answer of each type. */
  connect(): Promise<TunnelStep> {
    const [hostname = "", port] = this.#target.split(":");
    const first = (type_url: string, node: object) => {
      const known = this.#versions.get(type_url);
      const initial_resource_versions = known && Object.fromEntries(known);
      return request({ node, type_url, ...initial_resource_versions && { initial_resource_versions } });
    };
    const node = { id: "ztunnel~10.9.0.1~ztunnel.mesh-system~mesh-system.svc.cluster.local" };
    const requests = [ADDRESS, AUTHORIZATION].map((type) => first(type, node));
    const missing = new Set<string>();
    for (let i = 0; i < this.#count; i++) for (const type of [ADDRESS, AUTHORIZATION]) missing.add(`${i} ${type}`);
    return this.#step(missing, () => {
      this.#streams = Array.from({ length: this.#count }, (_, i) => {
        const stream = new GrpcStream({
          message: (bytes) => this.#take(i, stream, bytes),
          wire: (bytes) => this.#wireBytes += bytes,
          ended: (reason) => this.#failed(reason),
        });
        void stream.open(hostname, Number(port), METHOD, false);
        for (const one of requests) stream.send(one);
        return stream;
      });
    });
  }

  /** Runs an edit. Over when each tunnel has got addresses. */
  edited(edit: () => Promise<void>): Promise<TunnelStep> {
    return this.#step(new Set(this.#streams.map((_, i) => `${i} ${ADDRESS}`)), () => void edit());
  }

  disconnect(): void {
    this.#failed = () => {};
    for (const stream of this.#streams) stream.close();
    this.#streams = [];
  }

  async #step(missing: Set<string>, begin: () => void): Promise<TunnelStep> {
    this.#resources = this.#wireBytes = 0;
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const started = performance.now();
    this.#failed = (reason) => reject(new Error(`a tunnel: ${reason}`));
    this.#onResponse = (tunnel, typeUrl) => {
      missing.delete(`${tunnel} ${typeUrl}`);
      if (missing.size === 0) resolve(performance.now() - started);
    };
    begin();
    const last = await promise;
    return { last, resources: this.#resources, wireBytes: this.#wireBytes };
  }

  #take(tunnel: number, stream: GrpcStream, bytes: Uint8Array): void {
    const { typeUrl, nonce, resources } = scanResponse(bytes);
    this.#resources += resources.length;
    if (tunnel === 0) this.#note(typeUrl, resources);
    stream.send(request({ type_url: typeUrl, response_nonce: nonce }));
    this.#onResponse(tunnel, typeUrl);
  }

  /** Notes the versions in `Resource` messages: version = 1, name = 3. */
  #note(typeUrl: string, resources: readonly Uint8Array[]): void {
    let known = this.#versions.get(typeUrl);
    if (known === undefined) this.#versions.set(typeUrl, known = new Map());
    for (const bytes of resources) {
      let [name, version] = ["", ""];
      const cursor = new WireCursor(bytes);
      while (cursor.next()) {
        if (cursor.field === 3) name = cursor.string();
        else if (cursor.field === 1) version = cursor.string();
        else cursor.skip();
      }
      known.set(name, version);
    }
  }
}

function request(fields: object): Uint8Array {
  return encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", fields);
}
