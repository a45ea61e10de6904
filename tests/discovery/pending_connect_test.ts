import assert from "node:assert/strict";
import * as grpc from "@grpc/grpc-js";
import { PipelineSource } from "../../lib/discovery/proxies/source.ts";
import { encode } from "../../lib/pb/codec.ts";
import type { ConnectControl, ConnectRequest, ProxyView } from "../../lib/xds/protocol/source.ts";
import { withServer } from "./running.ts";

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const CLUSTERS = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const same = (bytes: Uint8Array) => Buffer.from(bytes);

/** A source whose connects wait for the test. */
class SlowSource implements Disposable {
  readonly controls: ConnectControl[] = [];
  /** Aborted connects so far. */
  aborted = 0;
  readonly #asked = Promise.withResolvers<void>();
  readonly #connect = PipelineSource.prototype.connect;

  constructor(clients: number) {
    const connect = (_request: ConnectRequest, control: ConnectControl): Promise<ProxyView> => {
      this.controls.push(control);
      if (this.controls.length === clients) this.#asked.resolve();
      return new Promise((_, reject) => {
        control.signal.addEventListener("abort", () => {
          this.aborted++;
          reject(control.signal.reason);
        });
      });
    };
    PipelineSource.prototype.connect = connect as unknown as PipelineSource["connect"];
  }

  /** Resolves when all clients wait. */
  get asked(): Promise<void> {
    return this.#asked.promise;
  }

  [Symbol.dispose](): void {
    PipelineSource.prototype.connect = this.#connect;
  }
}

/** A client asking for clusters. @returns the end of the client's stream */
function client(port: number): { ended: Promise<number>; close: () => void } {
  const channel = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
  });
  const call = channel.makeBidiStreamRequest(ADS, same, same, new grpc.Metadata());
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  call.on("error", () => {});
  call.on("data", () => {});
  call.on("status", ({ code }: grpc.StatusObject) => resolve(code));
  const node = { id: "sidecar~10.0.0.1~a.x~x.svc.cluster.local" };
  call.write(encode("envoy.service.discovery.v3.DiscoveryRequest", { type_url: CLUSTERS, node }));
  return { ended, close: () => channel.close() };
}

Deno.test("the stop of a server aborts the connects that its source has not answered, without waiting", async () => {
  using source = new SlowSource(3);
  const clients: ReturnType<typeof client>[] = [];
  const run = async ({ ports, xds }: { ports: { grpc: number }; xds: { streams(): Iterable<unknown> } }) => {
    for (let i = 0; i < 3; i++) clients.push(client(ports.grpc));
    await source.asked;
    assert.deepEqual([source.aborted, [...xds.streams()].length], [0, 0]);
  };
  // When the run ends, the server stops as by SIGTERM. Each part of the server must report its end.
  await withServer({}, run, { options: { shutdownDuration: 60_000 } });
  assert.deepEqual([source.aborted, source.controls.every(({ signal }) => signal.aborted)], [3, true]);
  assert.deepEqual(await Promise.all(clients.map(({ ended }) => ended)), [14, 14, 14]);
  for (const { close } of clients) close();
});
