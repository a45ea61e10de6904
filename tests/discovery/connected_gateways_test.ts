/** Connected gateways count for findings like the gateways of manifests and entries. */
import assert from "node:assert/strict";
import { struct } from "../../lib/pb/wellknown.ts";
import { TestProxy } from "../debug/proxy.ts";
import { until } from "../patience.ts";
import { page, withServer } from "./running.ts";

const WORLD = `apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: edge }
spec: { selector: { app: door }, servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*"] }] }
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: cart, namespace: shop }
spec:
  hosts: [cart.test]
  exportTo: ["."]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.1 }]
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: cart, namespace: shop }
spec: { hosts: [front.test], gateways: [edge/door], http: [{ route: [{ destination: { host: cart.test } }] }] }
`;

const router = (namespace: string, name: string, labels = { app: "door" }) => ({
  id: `router~10.0.0.4~${name}.${namespace}~${namespace}.svc.cluster.local`,
  metadata: struct({ NAMESPACE: namespace, LABELS: labels }),
});

Deno.test("a destination that is not exported to a connected gateway is found when the gateway connects, and no longer when it is gone", async () => {
  await withServer({ "a.yaml": WORLD }, async ({ ports, analysis }) => {
    const lost = async () => {
      const { body } = await page(ports.http, "/debug/live?object=vs/shop/cart&wait=30s");
      return (JSON.parse(body).lost as { name: string; message: string }[])
        .filter(({ name }) => name === "hidden-by-export").map(({ message }) => message);
    };
    assert.deepEqual(await lost(), []);
    {
      using other = await TestProxy.attach(ports.grpc, router("shop", "other", { app: "other" }));
      assert.deepEqual(await lost(), [], "a gateway of other labels");
      assert.equal(other.waiting, 0);
    }
    {
      using _first = await TestProxy.attach(ports.grpc, router("edge", "first"));
      await until("the finding", async () => (await lost()).length === 1);
      assert.match(
        (await lost())[0]!,
        /exported to the workloads of Gateway edge\/door in edge \(cart\.test is to shop\)/,
      );
      const before = analysis.push;
      using _second = await TestProxy.attach(ports.grpc, router("edge", "second"));
      assert.equal((await lost()).length, 1);
      assert.equal(analysis.push, before, "no push was needed");
    }
    await until("no finding", async () => (await lost()).length === 0);
    using _own = await TestProxy.attach(ports.grpc, router("shop", "own"));
    assert.deepEqual(await lost(), [], "a gateway in the namespace that sees it");
  });
});
