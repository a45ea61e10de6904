import assert from "node:assert/strict";
import { until } from "../patience.ts";
import { page, withServer } from "../discovery/running.ts";

const ENTRY = `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: shop }
spec: { hosts: [a.example.com], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: DNS }
`;
const SECRET = `apiVersion: v1
kind: Secret
metadata: { name: key, namespace: shop }
data: { tls.key: c2VjcmV0 }
`;

interface Row {
  readonly name: string;
  readonly size: number;
}

Deno.test("/debug/krtz counts the read objects and the results made of them, and follows an edit", async () => {
  await withServer({ "a.yaml": ENTRY, "b.yaml": SECRET }, async ({ ports }, folder) => {
    const sizes = async () => {
      const rows = JSON.parse((await page(ports.http, "/debug/krtz")).body) as Row[];
      return new Map(rows.map(({ name, size }) => [name, size]));
    };
    const first = await sizes();
    assert.equal(first.get("networking.mesh.io/v1/ServiceEntry"), 1);
    assert.equal(first.get("v1/Secret"), 1);
    assert.equal(first.get("services"), 1);
    assert.equal(first.get("networking.mesh.io/v1/Gateway"), undefined);
    assert.equal(first.get("proxies"), 0);
    await Deno.writeTextFile(`${folder}/c.yaml`, ENTRY.replace("name: a", "name: b").replace("a.example", "b.example"));
    await until("the second service", async () => (await sizes()).get("services") === 2);
  });
});

Deno.test("/debug/resourcesz names the kinds of the mesh and the kinds of the orchestrator", async () => {
  await withServer({}, async ({ ports }) => {
    const kinds = JSON.parse((await page(ports.http, "/debug/resourcesz")).body) as string[];
    for (const kind of ["networking.mesh.io/v1/VirtualService", "v1/Pod", "discovery.k8s.io/v1/EndpointSlice"]) {
      assert.ok(kinds.includes(kind), kind);
    }
  });
});
