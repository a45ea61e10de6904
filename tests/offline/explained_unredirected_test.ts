/** Requests of workloads whose proxies get no redirected connections (`INTERCEPTION_MODE: NONE`). */
import assert from "node:assert/strict";
import { serverExplainer } from "../../lib/offline/explain/of_server.ts";
import { struct } from "../../lib/pb/wellknown.ts";
import { TestProxy } from "../debug/proxy.ts";
import { page, withServer } from "../discovery/running.ts";

const WORLD = `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: cart, namespace: shop }
spec:
  hosts: [cart.shop.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 8000, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.1, labels: { app: cart } }]
---
apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: cart, namespace: shop }
spec:
  workloadSelector: { labels: { app: cart } }
  ingress:
    - { port: { number: 8000, name: http, protocol: HTTP }, bind: 10.0.0.1, captureMode: NONE, defaultEndpoint: 127.0.0.1:9081 }
  egress: [{ hosts: ["~/*"] }]
---
apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: batch, namespace: jobs }
spec:
  workloadSelector: { labels: { app: batch } }
  egress: [{ port: { number: 8000, name: http, protocol: HTTP }, bind: 10.0.0.3, captureMode: NONE, hosts: ["shop/*"] }]
---
apiVersion: security.mesh.io/v1
kind: AuthorizationPolicy
metadata: { name: paths, namespace: shop }
spec: { action: DENY, rules: [{ to: [{ operation: { paths: [/secret] } }] }] }
`;

const node = (name: string, namespace: string, ip: string, mode: string) => ({
  id: `sidecar~${ip}~${name}.${namespace}~${namespace}.svc.cluster.local`,
  metadata: struct({ NAMESPACE: namespace, LABELS: { app: name }, INTERCEPTION_MODE: mode }),
});

interface Explained {
  readonly request: { readonly destination: string };
  readonly hops: readonly { readonly proxy: { readonly name: string } }[];
  readonly end: { readonly text: string };
  readonly notes: readonly string[];
}

async function explained(port: number, from: string, to: string): Promise<Explained> {
  const { body } = await page(port, `/debug/explain?from=${from}&to=${encodeURIComponent(to)}`);
  return JSON.parse(body);
}

const options = { explainer: serverExplainer("cluster.local") };

Deno.test("a workload to whose proxy nothing is redirected dials the proxy's socket of the port, with any name", () =>
  withServer({ "world.yaml": WORLD }, async ({ ports }) => {
    using _cart = await TestProxy.attach(ports.grpc, node("cart", "shop", "10.0.0.1", "NONE"));
    using _batch = await TestProxy.attach(ports.grpc, node("batch", "jobs", "10.0.0.3", "NONE"));
    const way = async (to: string) => {
      const { request, hops, end, notes } = await explained(ports.http, "jobs/batch", to);
      return [request.destination, hops.map(({ proxy }) => proxy.name).join(" "), end.text, notes] as const;
    };
    const dialled = ["nothing is redirected to the proxy of jobs/batch: 10.0.0.3:8000 of the proxy is dialled"];
    const good = "forwarded 10.0.0.1:8000 (1 of 1 healthy)";
    assert.deepEqual(await way("http://cart.shop:8000/"), ["10.0.0.3:8000", "batch cart", good, dialled]);
    assert.deepEqual(await way("http://cart.shop:8000/secret"), [
      "10.0.0.3:8000",
      "batch cart",
      "answered 403: denied by AuthorizationPolicy shop/paths rules[0]",
      dialled,
    ]);
    const [, hops, end, notes] = await way("http://cart.shop:9999/");
    assert.deepEqual([hops, end], ["", "forwarded 198.51.100.1:9999, as it was dialled"]);
    assert.match(notes.join(), /does not listen on port 9999 for it: the request leaves as it is/);
    const [destination, first, , why] = await way("http://10.0.0.1:8000/");
    assert.deepEqual([destination, first], ["10.0.0.1:8000", "cart"]);
    assert.match(why.join(), /does not listen on 10\.0\.0\.1:8000 for it/);
  }, { options }));

Deno.test("a redirected workload dials the address of the service as before", () =>
  withServer({ "world.yaml": WORLD }, async ({ ports }) => {
    using _batch = await TestProxy.attach(ports.grpc, node("web", "shop", "10.0.0.4", "REDIRECT"));
    const { request, notes } = await explained(ports.http, "shop/web", "http://cart.shop:8000/");
    assert.equal(request.destination, "10.0.0.1:8000");
    assert.doesNotMatch(notes.join(), /redirected/);
  }, { options }));
