/**
 * A server between a proxy and a real API server with faults of every kind: nothing is lost, and the server recovers
 * without help.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { type Clock, systemClock } from "../../../lib/kernel/time/clock.ts";
import { withServer } from "../../discovery/running.ts";
import { FaultyApi, type Trouble, TROUBLES } from "../support/faulty_api.ts";
import { quickClock } from "../support/scripted_api.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { XdsWatch } from "../support/xds_watch.ts";
import { until } from "../../patience.ts";

const test = apiServerTests({ flags: ["--etcd-compaction-interval=2s"] });

const NAMES = ["cart", "reviews", "ratings"];

const service = (namespace: string, name: string) => ({
  ...{ apiVersion: "v1", kind: "Service", metadata: { namespace, name } },
  spec: { ports: [{ name: "http", port: 80, targetPort: 8080 }] },
});

const slice = (namespace: string, name: string, address: string) => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { namespace, name: `${name}-1`, labels: { "kubernetes.io/service-name": name } },
  addressType: "IPv4",
  ports: [{ name: "http", port: 8080, protocol: "TCP" }],
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
});

/** Runs a server behind an API that can go wrong, with a proxy that follows three services. */
async function withStorm(
  server: ApiServer,
  namespace: string,
  run: (parts: {
    readonly api: FaultyApi;
    /** Moves the endpoint of a service. */
    readonly move: (name: string, address: string) => Promise<void>;
    /** Resolves when the proxy has the address. */
    readonly follows: (name: string, address: string) => Promise<void>;
    readonly lost: readonly string[];
    readonly metrics: () => Promise<string>;
  }) => Promise<void>,
): Promise<void> {
  for (const name of NAMES) {
    await server.objects.apply(service(namespace, name));
    await server.objects.apply(slice(namespace, name, "10.9.0.1"));
  }
  const folder = await Deno.makeTempDir({ prefix: "storm-" });
  await using api = await FaultyApi.start(server.access);
  const file = `${folder}/config`;
  await Deno.writeTextFile(
    file,
    `current-context: c
clusters: [{name: k, cluster: {server: "${api.address}"}}]
contexts: [{name: c, context: {cluster: k}}]
`,
  );
  const place = { from: "files", files: [file], by: "test" } as const;
  const orch = { place, qps: 0, burst: 1, allowed: [], namespace: "", kinds: true, services: true };
  // Waits of the server take a fiftieth of their time, except at its end, which is late on a busy machine otherwise;
  // keepalives are so long that proxies do not notice.
  const quick = quickClock(50);
  let isEnding = false;
  const clock: Clock = {
    ...quick,
    after: (ms, fire) => (isEnding ? systemClock : quick).after(ms, fire),
    sleep: (ms, signal) => (isEnding ? systemClock : quick).sleep(ms, signal),
  };
  const options = { configDir: undefined, orch, keepaliveInterval: 1e7, keepaliveTimeout: 1e7 };
  const cluster = (name: string) => `outbound|80||${name}.${namespace}.svc.cluster.local`;
  try {
    await withServer({}, async ({ ports }, _, kernel) => {
      using watch = new XdsWatch(ports.grpc, namespace);
      const follows = (name: string, address: string) => watch.has(cluster(name), [address]);
      for (const name of NAMES) await follows(name, "10.9.0.1");
      await run({
        ...{ api, follows, lost: watch.lost },
        move: async (name, address) => void (await server.objects.apply(slice(namespace, name, address))),
        metrics: async () => (await kernel.metrics.scrape()).body,
      });
      assert.deepEqual(watch.lost, [], "nothing went");
      isEnding = true;
    }, { options, clock });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Resolves when a request met the trouble, or after a time: a silent API is noticed late. */
async function isMet(api: FaultyApi, trouble: Trouble): Promise<void> {
  const before = api.met.get(trouble) ?? 0;
  for (let i = 0; i < 500 && (api.met.get(trouble) ?? 0) === before; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

for (const trouble of TROUBLES) {
  test(`${trouble}: clusters and endpoints stay, and what changed meanwhile comes`, async ({ server, namespace }) => {
    await withStorm(server, namespace, async ({ api, move, follows, lost, metrics }) => {
      api.become(trouble);
      await move("cart", "10.9.0.2");
      await isMet(api, trouble);
      await move("reviews", "10.9.0.3");
      assert.deepEqual(lost, []);
      if (trouble === "server errors") {
        const counted = /controller_sync_errors_total\{cluster="Orch"\} [1-9]/;
        await until("they are counted", async () => counted.test(await metrics()));
      }
      api.become("none");
      await follows("cart", "10.9.0.2");
      await follows("reviews", "10.9.0.3");
      await move("cart", "10.9.0.4");
      await follows("cart", "10.9.0.4");
    });
  });
}

test("after any order of troubles and edits the proxy has what the API has, and has lost nothing", async ({ server, namespace }) => {
  const step = fc.record({
    trouble: fc.constantFrom<Trouble>("none", ...TROUBLES),
    name: fc.constantFrom(...NAMES),
    waits: fc.integer({ min: 0, max: 150 }),
  });
  await withStorm(server, namespace, async ({ api, move, follows }) => {
    let edits = 1;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
        const last = new Map<string, string>();
        for (const { trouble, name, waits } of steps) {
          api.become(trouble);
          const address = `10.9.${++edits >> 8}.${edits & 255}`;
          await move(name, address);
          last.set(name, address);
          await new Promise((resolve) => setTimeout(resolve, waits));
        }
        api.become("none");
        for (const [name, address] of last) await follows(name, address);
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });
});
