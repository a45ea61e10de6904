/**
 * A stock Envoy that rejects a response without naming a resource: no rejected resource counts as in force, Envoy's
 * error is shown, and the Envoy gets every acceptable resource.
 */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { DOOR, gateway, service } from "./support/door.ts";
import { askWith, headerEcho } from "./support/header_echo.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();

/** Further services, so that the response can be halved. */
const OTHERS = Array.from({ length: 12 }, (_, i) => `other${i}`);
const hostOf = (name: string) => `${name}.demo.svc.cluster.local`;

/** An EnvoyFilter that merges into the clusters of some services. */
const merging = (value: object, services: readonly string[]) =>
  JSON.stringify({
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name: "bad", namespace: "demo" },
    spec: {
      workloadSelector: { labels: { app: "door" } },
      configPatches: services.map((name) => ({
        applyTo: "CLUSTER",
        match: { context: "GATEWAY", cluster: { service: hostOf(name) } },
        patch: { operation: "MERGE", value },
      })),
    },
  });

/**
 * Whether this value is incomplete depends on the merged cluster, so only Envoy detects the problem. Envoy's error
 * names no cluster.
 */
const LACKING = { dns_failure_refresh_rate: { max_interval: "5s" } };
const WORDS = /BaseInterval/;

interface Live {
  readonly everywhere: boolean;
  readonly live: number;
  readonly rejected: number;
  readonly why: readonly string[];
}

interface World {
  readonly mesh: TestMesh;
  readonly port: number;
  readonly live: (object: string) => Promise<Live>;
  readonly overview: () => Promise<string>;
  readonly attach: () => Promise<Awaited<ReturnType<TestMesh["attach"]>>>;
  /** The service clusters that an Envoy has, by name of the service. */
  readonly served: (envoy: Awaited<ReturnType<TestMesh["attach"]>>) => Promise<readonly string[]>;
}

const start = (delta: boolean, files: Readonly<Record<string, string>>, run: (world: World) => Promise<void>) =>
  withPorts(1, async ([port = 0]) => {
    await using echo = headerEcho("app");
    const world = [gateway(port), ...["app", ...OTHERS].map((name) => service(name, echo.port))].join("---");
    await using mesh = await TestMesh.start({ files: { "world.yaml": world, ...files } });
    await run({
      mesh,
      port,
      live: (object) => mesh.page<Live>(`live?object=${object}`),
      overview: async () => {
        const answer = await fetch(`http://127.0.0.1:${mesh.server.ports.http}/debug`, {
          headers: { accept: "text/html" },
        });
        return await answer.text();
      },
      attach: () => mesh.attach(path!, DOOR, delta),
      served: async (envoy) => {
        const page = await envoy.admin("config_dump?resource=dynamic_active_clusters") ?? "";
        return ["app", ...OTHERS].filter((name) => page.includes(`"outbound|80||${hostOf(name)}"`));
      },
    });
  });

/** Asserts on all pages that the filter is rejected, with Envoy's error, and that the proxy is not up to date. */
async function isSaid({ mesh, live, overview }: World): Promise<void> {
  await until("Envoy's words", async () => (await live("EnvoyFilter/demo/bad")).rejected === 1);
  const { everywhere, live: reached, why } = await live("EnvoyFilter/demo/bad");
  assert.deepEqual([everywhere, reached], [false, 0]);
  assert.match(why.join(), WORDS);
  const [row] = await mesh.page<{ synced: boolean; rejected_objects: string[] }[]>("syncz");
  assert.equal(row?.synced, false);
  assert.ok(row?.rejected_objects.includes("ProxyFilter/demo/bad"), row?.rejected_objects.join());
  const shown = await overview();
  assert.match(shown, /1 of 1 proxy lacks what it has rejected/);
  assert.doesNotMatch(shown, /has everything/);
}

for (const delta of [true, false]) {
  const variant = delta ? "delta" : "state of the world";

  Deno.test({
    name: `a new Envoy that rejects all clusters without a name gets them without the patch (${variant})`,
    ignore: path === undefined,
    fn: () =>
      start(delta, { "bad.json": merging(LACKING, ["app", ...OTHERS]) }, async (world) => {
        const envoy = await world.attach();
        await envoy.ready(world.port);
        await until("requests pass", async () => (await askWith(world.port)).by === "app");
        await isSaid(world);
        await until("all clusters", async () => (await world.served(envoy)).length === 1 + OTHERS.length);
        const entry = await world.live("ServiceEntry/demo/app");
        assert.deepEqual([entry.everywhere, entry.why], [true, []]);
        await world.mesh.write("bad.json", merging({ connect_timeout: "3s" }, ["app"]));
        await until("the mended patch", async () => (await world.live("EnvoyFilter/demo/bad")).everywhere);
        await until("nothing is lacking", async () => /has everything/.test(await world.overview()));
      }),
  });

  Deno.test({
    name: `of many clusters an Envoy goes on with all when the edit of one is rejected without a name (${variant})`,
    ignore: path === undefined,
    fn: () =>
      start(delta, {}, async (world) => {
        const envoy = await world.attach();
        await envoy.ready(world.port);
        await until("requests pass", async () => (await askWith(world.port)).by === "app");
        await world.mesh.write("bad.json", merging(LACKING, ["other7"]));
        await isSaid(world);
        assert.equal((await world.served(envoy)).length, 1 + OTHERS.length);
        assert.equal((await askWith(world.port)).by, "app");
        const other = await world.live("ServiceEntry/demo/other3");
        assert.deepEqual([other.everywhere, other.rejected], [true, 0], other.why.join());
        // Other changes are still accepted.
        await world.mesh.write("new.yaml", service("new", 1));
        await until("a new service", async () => (await world.live("ServiceEntry/demo/new")).everywhere);
        await isSaid(world);
      }),
  });

  Deno.test({
    name: `a duration below zero reaches no Envoy, and counts as not in force on every page (${variant})`,
    ignore: path === undefined,
    fn: () =>
      start(delta, {
        "bad.json": merging({ outlier_detection: { base_ejection_time: "-5s" } }, ["app", ...OTHERS]),
      }, async (world) => {
        const envoy = await world.attach();
        await envoy.ready(world.port);
        await until("requests pass", async () => (await askWith(world.port)).by === "app");
        assert.deepEqual(await envoy.rejected(), []);
        const { everywhere, why } = await world.live("EnvoyFilter/demo/bad");
        assert.equal(everywhere, false);
        assert.match(why.join(), /base_ejection_time: -5s, expected more than 0s/);
      }),
  });
}
