/** All pages alike tell of an object rejected by a proxy, in the proxy's words. */
import assert from "node:assert/strict";
import { page, withServer } from "../discovery/running.ts";
import { until } from "../patience.ts";
import { TestProxy } from "./proxy.ts";

const entry = (name: string, port: number) =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: x }
spec:
  hosts: [${name}.example.com]
  ports: [{ number: ${port}, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.1 }]
`;

Deno.test("live ends its wait with the proxy's words where a change is rejected, and syncz and the overview agree", async () => {
  await withServer({ "a.yaml": entry("a", 80), "b.yaml": entry("b", 80) }, async ({ ports, xds }, folder) => {
    using proxy = await TestProxy.attach(ports.grpc);
    const get = async (path: string) => (await page(ports.http, path)).body;
    const live = async (query: string) => JSON.parse(await get(`/debug/live?object=ServiceEntry/x/${query}`));
    assert.equal((await live("a&wait=90s")).everywhere, true);
    proxy.hold();
    Deno.writeTextFileSync(`${folder}/a.yaml`, entry("a", 81));
    const asked = live("a&wait=90s");
    await proxy.received();
    proxy.reject("Proto constraint validation failed (ClusterValidationError.X)");
    const { everywhere, rejected, why } = await asked;
    assert.deepEqual([everywhere, rejected], [false, 1]);
    assert.deepEqual(why, [
      "1 of 1 proxies have rejected it: Proto constraint validation failed (ClusterValidationError.X)",
    ]);
    const other = await live("b&wait=90s");
    assert.deepEqual([other.everywhere, other.live, other.rejected], [true, 1, 0], "b was acknowledged before");
    const [row] = JSON.parse(await get("/debug/syncz"));
    assert.deepEqual([row.synced, row.rejected_objects], [false, ["ServiceEntry/x/a"]]);
    assert.deepEqual(xds.ledger.synced(), { synced: 0, total: 1, failing: 0, refusing: 1 });
    proxy.hold();
    Deno.writeTextFileSync(`${folder}/a.yaml`, entry("a", 82));
    await proxy.received();
    proxy.release();
    assert.equal((await live("a&wait=90s")).everywhere, true);
    await until("a synced row", async () => JSON.parse(await get("/debug/syncz"))[0].synced);
  });
});

Deno.test("a proxy that rejects its first response has nothing in force", async () => {
  await withServer({ "a.yaml": entry("a", 80) }, async ({ ports }) => {
    using _proxy = await TestProxy.attach(ports.grpc, undefined, "no, thanks");
    const ask = async () => JSON.parse((await page(ports.http, "/debug/live?object=ServiceEntry/x/a")).body);
    await until("the rejection", async () => (await ask()).rejected === 1);
    const answer = await ask();
    assert.deepEqual([answer.live, answer.everywhere], [0, false]);
    assert.deepEqual(answer.why, ["1 of 1 proxies have rejected it: no, thanks"]);
  });
});
