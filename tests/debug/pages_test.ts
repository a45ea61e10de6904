/** Debug pages in the forms that tools of this field read, and what they say to a question that is wrong. */
import assert from "node:assert/strict";
import { page, withServer } from "../discovery/running.ts";
import { TestProxy } from "./proxy.ts";

const entry = `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: x }
spec:
  hosts: [a.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.9 }]
`;

Deno.test("syncz has the fields that proxy-status reads, and filters by the namespace that counts", async () => {
  await withServer({ "a.yaml": entry }, async ({ ports, xds }) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    assert.equal(await xds.ledger.waitLive(0, 10_000), true);
    const [row, ...more] = JSON.parse((await page(ports.http, "/debug/syncz")).body);
    assert.equal(more.length, 0);
    // The proxy names neither: the namespace is in its id, the cluster that of the server.
    assert.deepEqual([row.proxy, row.proxy_type, row.cluster_id], ["a.x", "sidecar", "Orch"]);
    assert.equal(row.istio_version, row.mesh_version);
    assert.equal(row.cluster_sent, row.cluster_acked);
    assert.notEqual(row.cluster_sent, "");
    assert.equal(row.synced, true);
    assert.equal(JSON.parse((await page(ports.http, "/debug/syncz?namespace=x")).body).length, 1);
    assert.equal(JSON.parse((await page(ports.http, "/debug/syncz?namespace=y")).body).length, 0);
  });
});

Deno.test("a question that is wrong is answered with what would be right", async () => {
  await withServer({ "a.yaml": entry }, async ({ ports }) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    const cases: [string, number, RegExp][] = [
      ["config_dump", 400, /proxyID is missing, expected a part of a proxy's connection id \(see \/debug\/syncz\)/],
      ["config_dump?proxyID=nobody", 404, /"nobody" is connected here; \/debug\/connections lists those that are/],
      ["config_dump?proxyID=a.x&types=cds,xds", 400, /types: got xds, expected some of cds, lds, rds, eds/],
      ["nothingz", 404, /\/debug lists them/],
    ];
    for (const [path, status, words] of cases) {
      const answer = await page(ports.http, `/debug/${path}`);
      assert.equal(answer.status, status, path);
      assert.match(answer.body, words);
    }
    const dump = JSON.parse((await page(ports.http, "/debug/config_dump?proxyID=a.x&types=cds")).body);
    assert.ok(dump.resources.some((r: { name: string }) => r.name === "outbound|80||a.example.com"));
    const whole = JSON.parse((await page(ports.http, "/debug/config_dump?proxyID=a.x&include_eds")).body);
    assert.deepEqual(whole.configs.map((c: { "@type": string }) => c["@type"].split(".").at(-1)), [
      ...["ClustersConfigDump", "EndpointsConfigDump", "ListenersConfigDump", "RoutesConfigDump"],
    ]);
  });
});
