/** The command `rollout` as a process, at a running server with proxies. */
import assert from "node:assert/strict";
import { editText } from "../../cmd/pilot-discovery/rollout_edit.ts";
import type { ShownRollout } from "../../cmd/pilot-discovery/rollout_answer.ts";
import { pilotDiscovery } from "../cmd/offline.ts";
import { TestProxy } from "../debug/proxy.ts";
import { page, withServer } from "../discovery/running.ts";
import { until } from "../patience.ts";

const world = (timeout: string, paused = "false") => `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: cart, namespace: shop }
spec:
  hosts: [cart.shop]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.1 }]
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata:
  name: cart
  namespace: shop
  annotations: { istio.io/rollout: "25%:1h,100%:0s", istio.io/rollout-paused: "${paused}" }
spec:
  host: cart.shop
  trafficPolicy: { connectionPool: { tcp: { connectTimeout: ${timeout} } } }
`;

const KEY = "DestinationRule/shop/cart";

Deno.test("rollout lists rollouts, shows one, prints edits, and 1 says that a rollout was taken back", async () => {
  const kept = await Deno.makeTempDir();
  const settings = { MESH_ROLLOUT_DIR: kept, PILOT_DEBOUNCE_AFTER: 10 };
  await withServer({ "a.yaml": world("1s") }, async ({ ports }, folder) => {
    const run = (...args: string[]) => pilotDiscovery(["rollout", ...args, `--server=127.0.0.1:${ports.http}`]);
    const shown = async () => (JSON.parse((await page(ports.http, "/debug/rollouts")).body) as ShownRollout[])[0];
    const proxies: TestProxy[] = [];
    for (let at = 0; at < 4; at++) {
      proxies.push(
        await TestProxy.attach(ports.grpc, { id: `sidecar~10.0.1.${at}~p${at}.shop~shop.svc.cluster.local` }),
      );
    }
    assert.deepEqual(await run(), {
      code: 0,
      out: "no object has a rollout\n",
      err: "",
    });
    for (const proxy of proxies) proxy.hold();
    await Deno.writeTextFile(`${folder}/a.yaml`, world("2s"));
    await until("a proxy is chosen", async () => (await shown())?.chosen === 1);
    const [list, one, json, none, unknown, pause, promote, abort, noObject, noAction, absent] = await Promise.all([
      run(),
      run("dr/shop/cart"),
      run("-o", "json", KEY),
      run("ServiceEntry/shop/cart"),
      run("Cart/shop/cart"),
      run("pause", KEY),
      run("promote", KEY),
      run("abort", KEY),
      run("abort"),
      run("stop", KEY),
      run("dr/shop/absent"),
    ]);
    const row = new RegExp(`^${KEY}  spreading  1 of 2  25% +1 of 4 +0 +0 +\\d+s +1 of 1 proxies to acknowledge$`);
    const [heading = "", first = ""] = list!.out.split("\n");
    assert.match(heading, /^OBJECT +STATE +STAGE +SHARE +CHOSEN +ACKED +REJECTED +SINCE +WAITS FOR$/);
    assert.match(first, row);
    assert.equal(list!.code, 0);
    assert.match(
      one!.out,
      new RegExp(`^${KEY}: spreading at stage 1 of 2 \\(25%\\) for \\d+s\nPlan: 25% for 1h, 100% for 0s\n`),
    );
    assert.match(one!.out, /\nProxies: 1 chosen of 4, 0 acknowledged, 0 rejected \(all servers\)\n/);
    assert.match(one!.out, /\nChosen at this server: p\d\.shop\n/);
    assert.match(one!.out, /\nWritten in: .*a\.yaml:12\nA deletion of the object is not staged: /);
    const [{ object, phase, chosenHere }] = JSON.parse(json!.out).rollouts;
    assert.deepEqual([object, phase, chosenHere.length], [KEY, "spreading", 1]);
    assert.deepEqual([none!.code, none!.out], [
      0,
      "ServiceEntry/shop/cart has no rollout\n",
    ]);
    assert.deepEqual([unknown!.code, unknown!.out], [2, ""]);
    assert.match(
      pause!.out,
      /^# in .*a\.yaml:12\nmetadata:\n {2}annotations:\n {4}istio\.io\/rollout-paused: "true"\n$/,
    );
    assert.match(promote!.out, /\n {4}istio\.io\/rollout: "100%:0s"\n {4}istio\.io\/rollout-paused: "false"\n$/);
    assert.match(
      abort!.out,
      /^# the version that all proxies had.*\napiVersion: networking\.istio\.io\/v1\nkind: DestinationRule\n/,
    );
    assert.match(abort!.out, /\n +connectTimeout: 1s\n/);
    assert.deepEqual([noObject!.code, noAction!.code], [2, 2]);
    assert.deepEqual([absent!.code, absent!.out], [2, ""]);
    assert.match(absent!.err, /127\.0\.0\.1:\d+ has no DestinationRule\/shop\/absent\n$/);
    assert.match(noObject!.err, /abort: got no object, expected kind\/namespace\/name/);
    assert.match(noAction!.err, /got "stop", expected one of pause, resume, abort, promote/);

    const [chosen] = proxies.filter(({ waiting }) => waiting > 0);
    chosen!.reject("cluster outbound|80||cart.shop: bad timeout");
    await until("it is taken back", async () => (await shown())?.phase === "taken-back");
    const stopped = await run();
    assert.equal(stopped.code, 1);
    assert.match(stopped.out, / taken back +1 of 2 .* 1 of 1 proxies reject it: .*bad timeout\n$/);
    for (const proxy of proxies) {
      proxy.release();
      proxy[Symbol.dispose]();
    }
  }, { settings });
  await Deno.remove(kept, { recursive: true });
});

Deno.test("the printed abort ends a rollout, and the printed pause holds one", async () => {
  const kept = await Deno.makeTempDir();
  const settings = { MESH_ROLLOUT_DIR: kept, PILOT_DEBOUNCE_AFTER: 10 };
  const [services = ""] = world("1s").split("---\n");
  await withServer({ "services.yaml": services, "rule.yaml": world("1s").slice(services.length + 4) }, async (
    { ports },
    folder,
  ) => {
    const run = (...args: string[]) => pilotDiscovery(["rollout", ...args, `--server=127.0.0.1:${ports.http}`]);
    const shown = async () => (JSON.parse((await page(ports.http, "/debug/rollouts")).body) as ShownRollout[])[0];
    await Deno.writeTextFile(`${folder}/rule.yaml`, world("2s").slice(services.length + 4));
    await until("the rollout begins", async () => await shown() !== undefined);
    const { out } = await run("abort", KEY);
    await Deno.writeTextFile(`${folder}/rule.yaml`, out);
    await until("the rollout is over", async () => await shown() === undefined);
    await Deno.writeTextFile(`${folder}/rule.yaml`, world("3s", "true").slice(services.length + 4));
    await until("the rollout is paused", async () => (await shown())?.problem === "it is paused");
    assert.match((await run(KEY)).out, /^DestinationRule\/shop\/cart: stands still .*\n[^]*\nWaits: it is paused\n/);
  }, { settings });
  await Deno.remove(kept, { recursive: true });
});

Deno.test("an object of an API is edited by commands of kubectl", () => {
  const rollout = {
    object: KEY,
    annotation: "mesh.io/rollout",
    written: { apiVersion: "networking.mesh.io/v1", kind: "DestinationRule", from: "api", place: "east (uid 1)" },
    settledObject: null,
  } as unknown as ShownRollout;
  const target = (verb: string) => `kubectl -n shop ${verb} destinationrules.networking.mesh.io cart`;
  assert.equal(editText("pause", rollout), `${target("annotate")} --overwrite mesh.io/rollout-paused=true\n`);
  assert.equal(editText("resume", rollout), `${target("annotate")} --overwrite mesh.io/rollout-paused=false\n`);
  assert.equal(editText("abort", rollout), `${target("delete")}\n`, "other proxies lack the object");
  assert.equal(
    editText("promote", rollout),
    `${target("annotate")} --overwrite mesh.io/rollout=100%:0s mesh.io/rollout-paused=false\n`,
  );
});
