/** The cost of an exception inside the server, and the words about it: never "in force". */
import assert from "node:assert/strict";
import { PushFailures } from "../../lib/discovery/pipeline/failures.ts";
import type { DiscoveryServer } from "../../lib/discovery/server.ts";
import { TestProxy } from "../debug/proxy.ts";
import { page, withServer } from "./running.ts";
import { TrappedRegistry } from "./trapped_registry.ts";
import { PATIENCE } from "../patience.ts";

const entry = (port: number) =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: x }
spec:
  hosts: [a.example.com]
  ports: [{ number: ${port}, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.9 }]
`;

async function json(port: number, path: string) {
  return JSON.parse((await page(port, path)).body);
}

function pushed(server: DiscoveryServer): Promise<void> {
  return new Promise((resolve) => {
    const stop = server.pipeline.onPush(() => (stop(), resolve()));
  });
}

/** A proxy at a server; a trap goes off in `where`, is looked at, and goes off no more. */
async function trapped(
  where: RegExp,
  look: (server: DiscoveryServer) => Promise<void>,
  corrected: (server: DiscoveryServer) => Promise<void>,
): Promise<void> {
  const registry = new TrappedRegistry();
  const run = async (server: DiscoveryServer, folder: string) => {
    using _proxy = await TestProxy.attach(server.ports.grpc);
    const before = await json(server.ports.http, "/debug/live?object=ServiceEntry/x/a&wait=90s");
    assert.equal(before.everywhere, true, before.why.join());
    const failed = pushed(server);
    registry.set("bad", "10.0.0.1", 1, true, where);
    Deno.writeTextFileSync(`${folder}/a.yaml`, entry(81));
    await failed;
    assert.ok(registry.sprung > 0, "no one met the trap");
    await look(server);
    registry.armed = false;
    assert.equal(await server.xds.ledger.waitLive(server.pipeline.pushes + 1, PATIENCE), true, "tried again");
    const { live, total, everywhere, why } = await json(server.ports.http, "/debug/live?object=ServiceEntry/x/a");
    assert.deepEqual([live, total, everywhere, why], [1, 1, true, []]);
    const [newest] = await json(server.ports.http, "/debug/pushes");
    assert.deepEqual([Object.keys(newest.reasons), newest.failures], [["retry"], []]);
    await corrected(server);
  };
  await withServer({ "a.yaml": entry(80) }, run, { options: { registries: [registry] } });
}

const REASON = "a builder meets what it did not expect";

Deno.test("a builder that throws: its proxies do not count as up to date, the ledger says why, and it is tried again", async () => {
  const has = (server: DiscoveryServer, name: string) =>
    [...server.pipeline.translator.proxies()].some((state) =>
      state.resourceSets("type.googleapis.com/envoy.config.cluster.v3.Cluster")!.some((set) => set.has(name))
    );
  await trapped(/\/lib\/translate\/cluster\//, async (server) => {
    const { ports } = server;
    const live = await json(ports.http, "/debug/live?object=ServiceEntry/x/a");
    assert.deepEqual([live.live, live.failing, live.total, live.everywhere], [0, 1, 1, false]);
    assert.match(live.why.join(), new RegExp(`1 of 1 proxies lack .* clusters bad\\.example\\.com \\(${REASON}\\)`));
    const [push] = await json(ports.http, "/debug/pushes");
    assert.deepEqual(push.failures, [
      { what: "clusters bad.example.com", reason: REASON },
      { what: "inbound 80/x/bad.example.com", reason: REASON },
    ]);
    const status = await json(ports.http, "/debug/push_status");
    assert.equal(status.failures[0].what, "inbound 80/x/bad.example.com");
    assert.equal((await json(ports.http, "/debug/syncz"))[0].synced, false);
    const { body } = await page(ports.monitoring, "/metrics");
    assert.match(body, /^pilot_xds_pushes\{type="cds_builderr"\} [1-9]/m);
    assert.match(body, /^pilot_total_xds_internal_errors [1-9]/m);
    assert.equal(has(server, "outbound|81||a.example.com"), true, "the others' change came");
  }, async (server) => {
    assert.equal((await json(server.ports.http, "/debug/syncz"))[0].proxy, "a.x");
    assert.equal(has(server, "outbound|80||bad.example.com"), true, "made at the next try");
    assert.equal(has(server, "inbound|80||"), true, "what is the proxy's own too");
  });
});

Deno.test("a push that fails as a whole is in force nowhere, the earlier resources stay, and it is tried again", async () => {
  await trapped(/\/lib\/mesh\//, async (server) => {
    const { ports } = server;
    const live = await json(ports.http, "/debug/live?object=ServiceEntry/x/a");
    assert.deepEqual([live.live, live.failing, live.total, live.everywhere], [0, 1, 1, false]);
    const [push] = await json(ports.http, "/debug/pushes");
    assert.deepEqual(push.failures.map((f: { what: string }) => f.what), ["push"]);
    assert.ok(push.objects.some(({ key }: { key: string }) => key === "ServiceEntry/x/a"));
  }, async () => {});
});

Deno.test("tries come less and less often while they fail, and at once again after a success", () => {
  const delays: number[] = [];
  let fire = () => {};
  let tries = 0;
  const timers = {
    now: () => 0,
    after: (delay: number, callback: () => void) => {
      delays.push(delay);
      fire = callback;
      return () => fire = () => {};
    },
  };
  const failures: PushFailures = new PushFailures(timers, () => {
    tries++;
    failures.add("push", new Error("again"));
    failures.take();
  });
  failures.add("push", "no error at all");
  failures.add("push", new Error("second"));
  failures.add("push", new Error("second"));
  assert.deepEqual(failures.take().map(({ reason }) => reason), ["no error at all", "second"]);
  for (let i = 0; i < 8; i++) fire();
  assert.deepEqual(delays, [1, 2, 4, 8, 16, 32, 60, 60, 60].map((s) => s * 1000));
  assert.deepEqual(failures.take(), []);
  fire();
  assert.equal(tries, 8, "a success needs no try");
  failures.add("push", new Error("later"));
  assert.equal(delays.at(-1), 1000);
  failures.stop();
  fire();
  assert.equal(tries, 8, "nor does a server that stops");
});
