/** Requests of sidecars by the address of a Service, with the Host header of another Service. */
import assert from "node:assert/strict";
import { wayOf } from "../offline/way.ts";

/** A Service of namespace shop with one endpoint. */
function service(name: string, clusterIP: string, endpoint: string): string {
  return `
---
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop }
spec: { clusterIP: ${clusterIP}, selector: { app: ${name} }, ports: [{ name: http, port: 80 }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}-1, namespace: shop, labels: { kubernetes.io/service-name: ${name} } }
addressType: IPv4
ports: [{ name: http, port: 8080, protocol: TCP }]
endpoints: [{ addresses: [${endpoint}], conditions: { ready: true } }]`;
}

/** Services v1 and v2; the route at v2 sends requests under /gone to nobody. */
const MESH = service("v1", "10.96.0.1", "10.0.0.1") + service("v2", "10.96.0.2", "10.0.0.2") + `
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: v2, namespace: shop }
spec:
  parentRefs: [{ group: "", kind: Service, name: v2 }]
  rules:
  - matches: [{ path: { value: /gone } }]
    backendRefs: [{ name: nobody, port: 80 }]
  - backendRefs: [{ name: v2, port: 80 }]`;

const CLIENT = "sidecar~10.0.0.7~client.shop~shop.svc.cluster.local";

/** The end of a request to a URL with a Host header. */
async function end(url: string, host: string, byAddress: boolean): Promise<string> {
  const question = { to: url, headers: [`Host: ${host}`] };
  const way = await wayOf(MESH, CLIENT, question, { MESH_HTTP_BY_ADDRESS: byAddress }, { manifestServices: true });
  return way.split(" > ")[1]!;
}

Deno.test("by address: the routes of the dialled Service answer, whatever the Host header says", async () => {
  assert.deepEqual(
    [
      await end("http://v2/gone", "v1", true),
      await end("http://v2/", "v1", true),
      await end("http://v1/gone", "v2", true),
      await end("http://v2/gone", "unknown.example.com", true),
    ],
    ["500", "10.0.0.2:8080", "10.0.0.1:8080", "500"],
  );
});

Deno.test("by default the Host header decides between Services of a port", async () => {
  assert.deepEqual(
    [await end("http://v2/gone", "v1", false), await end("http://v1/gone", "v2", false)],
    ["10.0.0.1:8080", "500"],
  );
});

Deno.test("by address: at an address of no Service the Host header decides as before", async () => {
  assert.equal(await end("http://192.0.2.1/gone", "v2", true), "500");
});
