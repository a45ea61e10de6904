/** A remote cluster whose access is rotated a thousand times leaves nothing behind. */
import assert from "node:assert/strict";
import { RemoteClusters } from "../../../lib/discovery/clusters/clusters.ts";
import type { RemoteCluster } from "../../../lib/discovery/clusters/cluster.ts";
import { ClusterConnection } from "../../../lib/discovery/clusters/connection.ts";
import { addClusterRegistry } from "../../../lib/discovery/fact_registry.ts";
import { HandOver } from "../../../lib/discovery/hand_over.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";
import { type Clock, sleepWith, systemClock } from "../../../lib/kernel/time/clock.ts";
import { until } from "../../e2e/support/mesh.ts";
import { keptBytes } from "../../xds/support/memory.ts";
import { Fixture } from "../fixture.ts";
import { MemoryApi } from "../orch/memory_api.ts";

const ROTATIONS = 1000;
const WARM = 100;
/** Kinds of which there is a watch. */
const WATCHES = 7;

/** The machine's clock, which counts the timers that wait. */
class CountedClock implements Clock {
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

/** A cluster with a service, and the way to give it another access or take it away. */
class Rotated {
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
        const { registry, taker } = addClusterRegistry(pipeline, {
          ...place,
          networks: () => ({ networks: {} }),
        }, settings);
        return {
          ...{
            clock: this.clock,
            timeout: 30_000,
            registry,
            handOver: new HandOver(taker),
            read: () => {},
            readEntries: () => {},
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

  /** Gives it an access that it did not have; resolves when all was read by it. */
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

  get endpoints(): number {
    return this.fixture.pipeline.endpoints.endpoints("shop/cart.shop.svc.cluster.local").length;
  }
}

Deno.test("1,000 rotations and removals leave no timer, no watch, no memory, and every one has the services", async () => {
  const world = new Rotated();
  const { api, clusters, clock, fixture, kernel } = world;
  const [services, slices] = ["/api/v1/services", "/apis/discovery.k8s.io/v1/endpointslices"];
  api.put(services, { metadata: { name: "cart", namespace: "shop" }, spec: { ports: [{ name: "http", port: 80 }] } });
  api.put(slices, {
    metadata: { name: "cart-1", namespace: "shop", labels: { "kubernetes.io/service-name": "cart" } },
    addressType: "IPv4",
    ports: [{ name: "http", port: 8080 }],
    endpoints: [{ addresses: ["10.2.0.1"], conditions: { ready: true } }],
  });
  api.start();
  const round = async (number: number) => {
    if (number % 10 === 0) {
      clusters.take([]);
      assert.equal(world.endpoints, 0);
    }
    await world.rotate(number);
    assert.equal(world.endpoints, 1);
    if (number % 100 === 0) fixture.pipeline.flush();
  };
  /** What is there when the last connection has its watches, and the ones before have ended. */
  const count = async () => {
    await until("the watches of one connection", () => api.watching === WATCHES);
    // A watch has the timer of its silence.
    await until("the timers of one connection", () => clock.waiting <= WATCHES);
    api.asked.length = 0;
    return await keptBytes();
  };
  for (let number = 1; number <= WARM; number++) await round(number);
  const before = await count();
  for (let number = WARM + 1; number <= ROTATIONS; number++) await round(number);
  const grown = await count() - before;
  // One connection with its objects is some 50 kB.
  assert(grown / (ROTATIONS - WARM) < 1000, `${grown} bytes`);
  await clusters.stop();
  assert.equal(world.endpoints, 0);
  await until("the end of all watches and timers", () => api.watching === 0 && clock.waiting === 0);
  await kernel.stopper.stop();
  fixture.pipeline.stop();
  await api.stop();
});
