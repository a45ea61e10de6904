/**
 * A remote cluster whose API is in memory, for tests.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import assert from "node:assert/strict";
import { RemoteClusters } from "../../../lib/discovery/clusters/clusters.ts";
import type { RemoteCluster } from "../../../lib/discovery/clusters/cluster.ts";
import { ClusterConnection } from "../../../lib/discovery/clusters/connection.ts";
import { addClusterRegistry } from "../../../lib/discovery/sources/fact_registry.ts";
import { HandOver } from "../../../lib/discovery/pipeline/hand_over.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";
import { type Clock, sleepWith, systemClock } from "../../../lib/kernel/time/clock.ts";
import { Fixture } from "../fixture.ts";
import { MemoryApi } from "../orch/memory_api.ts";

/** The machine's clock, with a count of waiting timers. */
export class CountedClock implements Clock {
  waiting = 0;
  now = systemClock.now;
  monotonic = systemClock.monotonic;

  after(ms: number, fire: () => void) {
    let isOver = false;
    const over = () => {
      if (!isOver) this.waiting--;
      isOver = true;
    };
    this.waiting++;
    const cancel = systemClock.after(ms, () => {
      over();
      fire();
    });
    return () => {
      over();
      cancel();
    };
  }

  sleep(ms: number, signal?: AbortSignal) {
    return sleepWith(this, ms, signal);
  }
}

const SERVICES = "/api/v1/services", SLICES = "/apis/discovery.k8s.io/v1/endpointslices";

/** A cluster with a service, and the way to rotate or remove the access to the cluster. */
export class Rotated {
  readonly clock = new CountedClock();
  readonly kernel = startKernel("pilot-discovery", undefined, { log: silentLog(), clock: this.clock });
  readonly api = new MemoryApi();
  readonly fixture = new Fixture();
  readonly clusters: RemoteClusters;
  #changed = () => {};

  constructor() {
    const { pipeline } = this.fixture;
    const settings = defaultSettings("pilot-discovery", {});
    const options = {
      qps: 0,
      burst: 1,
      allowed: [],
      namespace: "",
      digestKey: new Uint8Array(32),
      onFindings: () => {},
      entries: false,
    };
    this.clusters = new RemoteClusters({
      own: "Orch",
      partsOf: (clusterId) => {
        const place = { clusterId, domain: "cluster.local", systemNamespace: "mesh-system", from: "api" } as const;
        const { registry, taker, check } = addClusterRegistry(pipeline, {
          ...place,
          networks: () => ({ networks: {} }),
        }, settings);
        return {
          ...{
            clock: this.clock,
            timeout: 30_000,
            ...{ registry, check },
            handOver: new HandOver(taker),
            read: () => {},
            readObjects: () => {},
          },
          leave: () => pipeline.removeRegistry(registry),
          connect: ({ id, access: text }) =>
            new ClusterConnection(id, { name: "test", text }, [], options, this.kernel),
        };
      },
      changed: () => this.#changed(),
      ...{ gone: () => {}, timedOut: () => assert.fail("it is read in time"), leftOut: () => {} },
    });
  }

  /** Puts a service with one endpoint into the API. */
  putCart(): void {
    const metadata = { name: "cart", namespace: "shop" };
    this.api.put(SERVICES, { metadata, spec: { ports: [{ name: "http", port: 80 }] } });
    this.api.put(SLICES, {
      metadata: { name: "cart-1", namespace: "shop", labels: { "kubernetes.io/service-name": "cart" } },
      addressType: "IPv4",
      ports: [{ name: "http", port: 8080 }],
      endpoints: [{ addresses: ["10.2.0.1"], conditions: { ready: true } }],
    });
  }

  /** Gives the cluster a new access. Resolves when all objects were read by the new access. */
  async rotate(round: number): Promise<RemoteCluster> {
    const before = this.clusters.get("west")?.facts;
    const taken = Promise.withResolvers<void>();
    this.#changed = () => {
      const now = this.clusters.get("west")?.facts;
      if (now !== undefined && now !== before) taken.resolve();
    };
    const text = [
      "current-context: c",
      `clusters: [{name: k, cluster: {server: "${this.api.address}"}}]`,
      `contexts: [{name: c, context: {cluster: k}}] # ${round}`,
    ];
    this.clusters.take([{ name: "mesh-system/west", created: 0, entries: new Map([["west", text.join("\n")]]) }]);
    await taken.promise;
    return this.clusters.get("west")!;
  }

  /** The number of the service's endpoints in the mesh. */
  get endpoints(): number {
    return this.fixture.pipeline.endpoints.endpoints("shop/cart.shop.svc.cluster.local").length;
  }
}
