/** Previews and explanations of a running server: about its connected proxies, without applying anything. */
import assert from "node:assert/strict";
import type { PreviewRunner } from "../../lib/debug/runners.ts";
import type { DiscoveryServer } from "../../lib/discovery/server.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { serverExplainer } from "../../lib/offline/explain/of_server.ts";
import { WorkerPreviews } from "../../lib/offline/preview/runner.ts";
import { pilotDiscovery } from "../cmd/offline.ts";
import { TestProxy } from "../debug/proxy.ts";
import { withServer } from "../discovery/running.ts";
import { example } from "./mesh_of.ts";

const shop = example("shop");
const next = example("shop-next");
const CART = { id: "sidecar~10.0.0.5~cart.shop~shop.svc.cluster.local", metadata: {} };
const V1 = { id: "sidecar~10.0.0.6~reviews-v1.shop~shop.svc.cluster.local", metadata: {} };

/** Runs a server over the shop, with two connected proxies. */
async function withShop(
  run: (server: DiscoveryServer, ask: typeof fetch, origin: string) => Promise<void>,
  time?: number,
  files: Record<string, string> = shop,
): Promise<void> {
  let runner: WorkerPreviews | undefined;
  // The folder is known when the server runs.
  const preview: PreviewRunner = {
    get busy() {
      return runner?.busy ?? false;
    },
    run: (...asked) => runner!.run(...asked),
  };
  await withServer(files, async (server, folder) => {
    const settings = defaultSettings("pilot-discovery");
    runner = new WorkerPreviews({ settings, domain: "cluster.local", folder, ...(time === undefined ? {} : { time }) });
    using _cart = await TestProxy.attach(server.ports.grpc, CART);
    using _v1 = await TestProxy.attach(server.ports.grpc, V1);
    const origin = `http://127.0.0.1:${server.ports.http}`;
    await run(server, (path, init) => fetch(`${origin}${path}`, init), origin);
  }, { options: { preview, explainer: serverExplainer("cluster.local") } });
}

const ask = (body: unknown) => ({ method: "POST", body: JSON.stringify(body) });

Deno.test("a preview says what other files would do to connected proxies, and nothing is applied", async () => {
  await withShop(async ({ pipeline, store }, get) => {
    const pushes = pipeline.pushes;
    const answer = await (await get("/debug/preview", ask({ files: next }))).json();
    assert.deepEqual(answer.proxies, { compared: 2, changed: 2, added: [], gone: [] });
    assert.deepEqual(answer.groups[0].proxies.toSorted(), ["shop/cart", "shop/reviews-v1"]);
    assert.deepEqual(answer.groups[0].resources[0].objects, ["VirtualService/shop/reviews"]);
    assert.deepEqual([answer.same, answer.groups[0].ended], [false, []]);
    assert.equal(pipeline.pushes, pushes);
    assert.equal(store.get("VirtualService", "shop", "reviews")?.spec.http?.[1]?.route?.[0]?.weight, 90);

    const same = await (await get("/debug/preview", ask({ files: shop }))).json();
    assert.deepEqual([same.same, same.groups], [true, []]);
    const one = await (await get("/debug/preview", ask({ files: next, nodes: ["shop/cart"] }))).json();
    assert.equal(one.proxies.compared, 1);
  });
});

Deno.test("files that leave objects out remove them; what they break stays, and is a finding", async () => {
  await withShop(async (_server, get) => {
    const { "routes.yaml": routes, ...rest } = shop;
    const without = await (await get("/debug/preview", ask({ files: rest }))).json();
    assert.deepEqual(without.objects, { written: [], removed: ["VirtualService/shop/reviews"] });
    assert.equal(without.proxies.changed, 2);
    const broken = { ...shop, "routes.yaml": routes!.replace("weight: 90", "weight: many") };
    const kept = await (await get("/debug/preview", ask({ files: broken }))).json();
    assert.deepEqual([kept.proxies.changed, kept.objects.removed], [0, []]);
    assert.deepEqual(kept.findings.appeared.map(({ name }: { name: string }) => name), ["wrong-value"]);
  });
});

Deno.test("what the running folder has is not new: findings of reading, of the analysis, and about manifests", async () => {
  const broken = {
    ...shop,
    "routes.yaml": shop["routes.yaml"]!.replace("subset: v1 }", "subset: v9 }"),
    "wrong.yaml": `apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: wrong, namespace: shop }
spec: { selector: { app: door }, servers: many }
`,
    "front.yaml": `apiVersion: v1
kind: Service
metadata: { name: front, namespace: shop }
spec: { ports: [{ name: http, port: 80 }] }
---
apiVersion: v1
kind: Secret
metadata: { name: keys, namespace: shop }
data: { tls.crt: YQ== }
`,
    "to_front.yaml": `apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: to-front, namespace: shop }
spec: { hosts: [front.shop.svc.cluster.local], http: [{ route: [{ destination: { host: front } }] }] }
`,
  };
  await withShop(
    async (_server, get) => {
      const found = async (files: Record<string, string>, reversed = false) => {
        const { findings } = await (await get("/debug/preview", ask({ files, reversed }))).json();
        const names = (list: readonly { name: string }[]) => list.map(({ name }) => name).toSorted();
        return [names(findings.appeared), names(findings.resolved)];
      };
      assert.deepEqual(await found(broken), [[], []]);
      assert.deepEqual(await found({ ...broken, "routes.yaml": shop["routes.yaml"]! }), [[], ["unknown-subset"]]);
      const { "wrong.yaml": _, ...right } = broken;
      assert.deepEqual(await found(right), [[], ["wrong-value"]]);
      assert.deepEqual(await found(right, true), [["wrong-value"], []]);
      const { "front.yaml": __, ...without } = broken;
      assert.deepEqual((await found(without))[1], []);
      assert.ok((await found(without))[0]!.includes("unknown-host"));
    },
    undefined,
    broken,
  );
});

Deno.test("one preview at a time: a second one is refused with 429, and the next one is answered", async () => {
  await withShop(async (_server, get) => {
    const [first, second] = await Promise.all([
      get("/debug/preview", ask({ files: next })),
      get("/debug/preview", ask({ files: next })),
    ]);
    const [refused] = [first, second].filter(({ status }) => status === 429);
    assert.deepEqual([first.status, second.status].toSorted(), [200, 429]);
    assert.match(await refused!.text(), /^another preview is being answered, expected one at a time/);
    assert.equal(refused!.headers.get("retry-after"), "5");
    await [first, second].find(({ status }) => status === 200)!.body?.cancel();
    const again = await get("/debug/preview", ask({ files: next }));
    assert.equal(again.status, 200);
    await again.body?.cancel();
  });
});

Deno.test("a preview ends when its time is over, and the next one is not refused for it", async () => {
  await withShop(async (_server, get) => {
    for (let at = 0; at < 2; at++) {
      const late = await get("/debug/preview", ask({ files: next }));
      assert.deepEqual([late.status, await late.text()], [503, "no answer within 0.001 s\n"]);
    }
  }, 1);
});

Deno.test("an unreadable question is 400 with every mistake", async () => {
  await withShop(async (_server, get) => {
    const refused = async (body: string) => {
      const answer = await get("/debug/preview", { method: "POST", body });
      return [answer.status, await answer.text()];
    };
    assert.deepEqual(await refused(JSON.stringify({ files: { a: 1 }, reversed: "no" })), [
      400,
      'files.a: got 1, expected the text of a file\nreversed: got "no", expected true or false\n',
    ]);
    assert.match(String((await refused("what"))[1]), /^the body is not JSON: /);
    assert.match(
      String((await refused(JSON.stringify({ files: {}, nodes: ["x/y"] })))[1]),
      /^nodes: x\/y, expected connected/,
    );
    const get405 = await get("/debug/preview");
    assert.equal(get405.status, 405);
    await get405.body?.cancel();
  });
});

Deno.test("a server explains the requests of its connected proxies", async () => {
  await withShop(async (_server, get) => {
    const query = new URLSearchParams({ from: "shop/cart", to: "http://reviews/", headers: "x-beta: no" });
    const explained = await (await get(`/debug/explain?${query}`)).json();
    assert.deepEqual([explained.end.endpoint, explained.hops.length], ["10.0.0.6:9080", 2]);
    const [beta] = explained.hops[0].steps.filter(({ what }: { what: string }) => what === "rule");
    assert.match(beta.place.file, /routes\.yaml$/);
    assert.deepEqual([beta.text, beta.place.line], [
      'header x-beta is "no", expected "yes"',
      shop["routes.yaml"]!.split("\n").findIndex((line) => line.includes("- headers")) + 1,
    ]);
    const unknown = await get("/debug/explain?from=shop/reviews-v2&to=http://reviews/");
    assert.deepEqual([unknown.status, await unknown.text()], [
      400,
      "no workload shop/reviews-v2; did you mean shop/reviews-v1?\n",
    ]);
    const bad = await get("/debug/explain?from=shop/cart&to=nothing");
    assert.equal(bad.status, 400);
    await bad.body?.cancel();
  });
});

Deno.test("a server without previews and explanations says so", async () => {
  await withServer({}, async ({ ports }) => {
    const origin = `http://127.0.0.1:${ports.http}`;
    for (
      const [path, init] of [["/debug/preview", ask({ files: {} })], ["/debug/explain?from=a&to=b:1", {}]] as const
    ) {
      const { status, body } = await fetch(`${origin}${path}`, init);
      assert.equal(status, 501);
      await body?.cancel();
    }
  });
});

Deno.test("diff and explain ask a running server by its address", async () => {
  await withShop(async (_server, _get, origin) => {
    const files = Object.fromEntries(Object.entries(next).map(([name, text]) => [`mesh/${name}`, text]));
    const address = origin.replace("http://", "");
    const [there, back, request] = await Promise.all([
      pilotDiscovery(["diff", address, "mesh"], { files }),
      pilotDiscovery(["explain", "--server", address, "--from", "shop/cart", "--to", "http://reviews/"]),
      pilotDiscovery(["explain", "--server", "127.0.0.1:1", "--from", "shop/cart", "--to", "http://reviews/"]),
    ]);
    assert.deepEqual([there.code, back.code, request.code], [1, 0, 2]);
    assert.match(there.out, /^2 of 2 proxies change; 0 receive 0 bytes\n[^]*\n-\s+v1 90, v2 10\n\+\s+v1 50, v2 50\n/);
    assert.match(back.out, /\n {2}=> 90 % forwarded 10\.0\.0\.6:9080 \(1 of 1 healthy\)\n/);
    assert.match(request.err, /^Error: http:\/\/127\.0\.0\.1:1: .*; is the server running\?\n$/);
    const reversed = await pilotDiscovery(["diff", "mesh", address], { files });
    assert.match(reversed.out, /\n-\s+v1 50, v2 50\n\+\s+v1 90, v2 10\n/);
  });
});
