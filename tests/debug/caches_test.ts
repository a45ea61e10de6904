/** `/debug/cachez`: the content of caches, and emptying caches without an effect on proxies. */
import assert from "node:assert/strict";
import { cachedTypes } from "../../lib/translate/machine/cache/content.ts";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { page, withServer } from "../discovery/running.ts";
import { TestProxy } from "./proxy.ts";
import { PATIENCE } from "../patience.ts";

const entry = (name: string, namespace: string) =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  hosts: [${name}.example.com]
  exportTo: ["."]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.9 }]
`;

const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const ROUTER = { id: "router~10.0.0.2~door.y~y.svc.cluster.local" };

interface Sizes {
  readonly total: string;
  readonly [type: string]: string;
}

Deno.test("the page has the names and sizes of the cached results by type", async () => {
  await withServer({ "a.yaml": entry("a", "x") }, async ({ ports, pipeline }) => {
    const ask = async (query = "") => JSON.parse((await page(ports.http, `/debug/cachez${query}`)).body);
    assert.deepEqual([await ask(), await ask("?sizes")], [{}, { total: "0B" }]);
    using _proxy = await TestProxy.attach(ports.grpc);
    const names = await ask();
    assert.ok(names[CLUSTER].includes("outbound|80||a.example.com"), JSON.stringify(names));
    assert.ok(names[CLUSTER].includes("BlackHoleCluster"));
    assert.deepEqual(names[CLUSTER], [...names[CLUSTER]].sort());
    const sizes = await ask("?sizes=true");
    assert.deepEqual(Object.keys(sizes), [...Object.keys(names), "total"]);
    const { bytes } = unpaced(cachedTypes(pipeline.translator.caches)).get(CLUSTER)!;
    assert.equal(sizes[CLUSTER], bytes < 1000 ? `${bytes}B` : `${(bytes / 1000).toFixed(1)}kB`);
  });
});

Deno.test("cleared caches keep only the results of connected proxies; the proxies keep their resources and are sent nothing", async () => {
  await withServer({ "a.yaml": entry("a", "x"), "b.yaml": entry("b", "y") }, async ({ ports, xds, pipeline }) => {
    const url = `http://127.0.0.1:${ports.http}/debug/cachez`;
    const sizes = async (): Promise<Sizes> => JSON.parse((await page(ports.http, "/debug/cachez?sizes")).body);
    const dump = async () => (await page(ports.http, "/debug/config_dump?proxyID=a.x&include_eds")).body;
    using proxy = await TestProxy.attach(ports.grpc);
    const other = await TestProxy.attach(ports.grpc, ROUTER);
    other[Symbol.dispose]();
    const [before, had, caches] = [await sizes(), await dump(), pipeline.translator.caches];
    assert.equal(await xds.ledger.waitLive(0, PATIENCE), true);
    proxy.hold();
    let sent = false;
    proxy.received().then(() => sent = true);

    const refused = await fetch(`${url}?clear=true`);
    assert.equal(refused.status, 405, await refused.text());
    assert.equal(pipeline.translator.caches, caches);
    const aimless = await fetch(url, { method: "POST" });
    assert.deepEqual([aimless.status, await aimless.text()], [400, "query clear is missing, expected clear=true\n"]);
    const foreign = await fetch(`${url}?clear=true`, {
      method: "POST",
      headers: { origin: "http://evil.example.com" },
    });
    assert.equal(foreign.status, 403, await foreign.text());
    assert.equal(pipeline.translator.caches, caches, "a refused request changes nothing");

    const answer = await fetch(`${url}?clear=true`, { method: "POST" });
    assert.deepEqual([answer.status, await answer.text()], [200, "Cache cleared\n"]);
    assert.notEqual(pipeline.translator.caches, caches);
    assert.ok(pipeline.translator.caches.stats().misses > 0, "results were built again");
    const after = await sizes();
    const number = (text: string) => parseFloat(text) * (text.endsWith("kB") ? 1000 : 1);
    assert.ok(number(after.total) < number(before.total), `${after.total} < ${before.total}`);
    assert.doesNotMatch(JSON.stringify(await (await fetch(url)).json()), /b\.example\.com/);
    assert.equal(await dump(), had);
    assert.equal(await xds.ledger.waitLive(xds.ledger.latest, PATIENCE), true);
    assert.equal(sent, false, "nothing was sent");
  });
});
