/** Where requests go in a folder with objects of the Gateway API: at a Gateway, and between workloads of the mesh. */
import assert from "node:assert/strict";
import { checked, wayOf } from "../offline/way.ts";

/** A service of namespace shop with one endpoint, as an entry. */
function service(name: string, address: string, namespace = "shop"): string {
  return `
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  hosts: [${name}.${namespace}.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }, { number: 8080, name: http-alt, protocol: HTTP }]
  endpoints: [{ address: ${address} }]`;
}

/** Gateway shop/edge with listeners, and a workload that serves the Gateway. */
function gateway(listeners: string, more = ""): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec:
  gatewayClassName: mesh
  ${more}
  listeners: ${listeners}
---
apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: door, namespace: shop }
spec: { address: 10.0.0.9, labels: { gateway.networking.k8s.io/gateway-name: edge } }
${service("a", "10.0.0.1")}${service("b", "10.0.0.2")}`;
}

function route(name: string, spec: string, namespace = "shop"): string {
  return `
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name}, namespace: ${namespace} }
spec: ${spec}`;
}

const DOOR = "router~10.0.0.9~door.shop~shop.svc.cluster.local";
const CLIENT = "sidecar~10.0.0.7~client.shop~shop.svc.cluster.local";

/** Where a request at the door goes: an endpoint, or a status. */
async function at(text: string, to: string, from = DOOR): Promise<string> {
  return (await wayOf(text, from, to)).split(" > ")[1]!;
}

const HTTP = "[{ name: http, port: 80, protocol: HTTP }]";
const TO_A = "backendRefs: [{ name: a, port: 80 }]";
const TO_B = "backendRefs: [{ name: b, port: 80 }]";

Deno.test("the rules of all routes of a host are in one order: the longer prefix first, whatever the route", async () => {
  const text = gateway(HTTP) +
    route("first", `{ parentRefs: [{ name: edge }], hostnames: [x.example.com], rules: [{ ${TO_A} }] }`) +
    route(
      "second",
      `{ parentRefs: [{ name: edge }], hostnames: [x.example.com], rules: [{ matches: [{ path: { value: /b } }], ${TO_B} }] }`,
    );
  assert.deepEqual(
    [
      await at(text, "http://x.example.com/"),
      await at(text, "http://x.example.com/b/c"),
      await at(text, "http://x.example.com/bc"),
      await at(text, "http://y.example.com/"),
    ],
    ["10.0.0.1:80", "10.0.0.2:80", "10.0.0.1:80", "404"],
  );
});

Deno.test("a rule with a backend that does not exist answers 500, and the other rules of the route serve", async () => {
  const rules = `[{ matches: [{ path: { value: /gone } }], backendRefs: [{ name: gone, port: 80 }] }, { ${TO_A} }]`;
  const text = gateway(HTTP) + route("r", `{ parentRefs: [{ name: edge }], rules: ${rules} }`);
  assert.deepEqual([await at(text, "http://x/gone"), await at(text, "http://x/")], ["500", "10.0.0.1:80"]);
});

Deno.test("a request belongs to the most specific listener alone, also if that listener has no route", async () => {
  const listeners =
    "[{ name: all, port: 80, protocol: HTTP }, { name: one, port: 80, protocol: HTTP, hostname: one.example.com }," +
    " { name: wild, port: 80, protocol: HTTP, hostname: '*.example.com' }]";
  const text = gateway(listeners) +
    route("all", `{ parentRefs: [{ name: edge, sectionName: all }], rules: [{ ${TO_A} }] }`) +
    route("wild", `{ parentRefs: [{ name: edge, sectionName: wild }], rules: [{ ${TO_B} }] }`);
  assert.deepEqual(
    [
      await at(text, "http://other.org/"),
      await at(text, "http://two.example.com/"),
      await at(text, "http://one.example.com/"),
    ],
    ["10.0.0.1:80", "10.0.0.2:80", "404"],
  );
});

Deno.test("a server name belongs to the most specific TLS or HTTPS listener alone, also if that has no route", async () => {
  const tls = (name: string, hostname: string) =>
    `{ name: ${name}, port: 443, protocol: TLS, hostname: '${hostname}', tls: { mode: Passthrough } }`;
  const https =
    "{ name: one, port: 443, protocol: HTTPS, hostname: one.example.com, tls: { certificateRefs: [{ name: w }] } }";
  const pem = (name: string) => Deno.readTextFileSync(new URL(`../testdata/pem/${name}.pem`, import.meta.url));
  const stringData = { "tls.crt": pem("cert"), "tls.key": pem("key") };
  const secret = JSON.stringify({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "w", namespace: "shop" },
    stringData,
  });
  const routed = `
---
apiVersion: gateway.networking.k8s.io/v1
kind: TLSRoute
metadata: { name: r, namespace: shop }
spec:
  parentRefs: [{ name: edge, sectionName: any }]
  hostnames: [one.example.com, two.example.com]
  rules: [{ ${TO_A} }]
---
${secret}`;
  for (const specific of [tls("one", "one.example.com"), https]) {
    const text = gateway(`[${tls("any", "*.example.com")}, ${specific}]`) + routed;
    assert.match(await wayOf(text, DOOR, "tls://two.example.com:443"), /^a:80 >/);
    assert.doesNotMatch(await wayOf(text, DOOR, "tls://one.example.com:443"), /^a:80 >/, specific);
  }
});

Deno.test("a backend of another namespace needs a grant, and is closed without one", async () => {
  const text = gateway(HTTP) + service("c", "10.0.0.3", "pay") +
    route("r", `{ parentRefs: [{ name: edge }], rules: [{ backendRefs: [{ name: c, namespace: pay, port: 80 }] }] }`);
  const grant = `
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: { name: shop, namespace: pay }
spec: { from: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop }], to: [{ group: "", kind: Service }] }`;
  assert.deepEqual([await at(text, "http://x/"), await at(text + grant, "http://x/")], ["500", "10.0.0.3:80"]);
});

Deno.test("routes of other namespaces attach where the listener allows them", async () => {
  const other = route(
    "r",
    `{ parentRefs: [{ name: edge, namespace: shop }], rules: [{ backendRefs: [{ name: c, port: 80 }] }] }`,
    "pay",
  ) + service("c", "10.0.0.3", "pay");
  const open = "[{ name: http, port: 80, protocol: HTTP, allowedRoutes: { namespaces: { from: All } } }]";
  assert.deepEqual(
    [await at(gateway(HTTP) + other, "http://x/"), await at(gateway(open) + other, "http://x/")],
    ["404", "10.0.0.3:80"],
  );
});

Deno.test("a ListenerSet adds listeners, also from another namespace, where the Gateway allows ListenerSets", async () => {
  const set = `
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: { name: extra, namespace: pay }
spec:
  parentRef: { name: edge, namespace: shop }
  listeners: [{ name: more, port: 81, protocol: HTTP }]` + service("c", "10.0.0.3", "pay") +
    route(
      "r",
      "{ parentRefs: [{ kind: ListenerSet, name: extra }], rules: [{ backendRefs: [{ name: c, port: 80 }] }] }",
      "pay",
    );
  const open = "allowedListeners: { namespaces: { from: All } }";
  assert.equal(await at(gateway(HTTP, open) + set, "http://x:81/"), "10.0.0.3:80");
  assert.match(await wayOf(gateway(HTTP) + set, DOOR, "http://x:81/"), /no cluster/);
});

Deno.test("a route at a Service takes the place of the default route: unmatched requests get 404", async () => {
  const text = gateway(HTTP) +
    route(
      "mesh",
      `{ parentRefs: [{ group: "", kind: Service, name: a }], rules: [{ matches: [{ path: { value: /b } }], ${TO_B} }] }`,
    );
  assert.deepEqual(
    [
      await at(text, "http://a.shop/b", CLIENT),
      await at(text, "http://a.shop/", CLIENT),
      await at(text, "http://b.shop/", CLIENT),
    ],
    ["10.0.0.2:80", "404", "10.0.0.2:80"],
  );
});

Deno.test("a route at one port of a Service leaves the other ports as they are", async () => {
  const text = gateway(HTTP) +
    route("mesh", `{ parentRefs: [{ group: "", kind: Service, name: a, port: 80 }], rules: [{ ${TO_B} }] }`);
  assert.deepEqual(
    [await at(text, "http://a.shop/", CLIENT), await at(text, "http://a.shop:8080/", CLIENT)],
    ["10.0.0.2:80", "10.0.0.1:8080"],
  );
});

Deno.test("a consumer's route counts for clients of its namespace, in place of the producer's route", async () => {
  const text = gateway(HTTP) + service("c", "10.0.0.3", "pay") +
    route("producer", `{ parentRefs: [{ group: "", kind: Service, name: a }], rules: [{ ${TO_B} }] }`) +
    route(
      "consumer",
      `{ parentRefs: [{ group: "", kind: Service, name: a, namespace: shop }], rules: [{ backendRefs: [{ name: c, port: 80 }] }] }`,
      "pay",
    );
  const consumer = "sidecar~10.0.0.8~client.pay~pay.svc.cluster.local";
  assert.deepEqual(
    [await at(text, "http://a.shop/", CLIENT), await at(text, "http://a.shop/", consumer)],
    ["10.0.0.2:80", "10.0.0.3:80"],
  );
});

Deno.test("a Gateway of another implementation's class is left alone", async () => {
  const text = gateway(HTTP).replace("gatewayClassName: mesh", "gatewayClassName: other") +
    route("r", `{ parentRefs: [{ name: edge }], rules: [{ ${TO_A} }] }`);
  assert.match(await wayOf(text, DOOR, "http://x/"), /no cluster/);
});

Deno.test("a listener may have its certificate in another namespace, with a grant", async () => {
  const pem = (name: string) => Deno.readTextFileSync(new URL(`../testdata/pem/${name}.pem`, import.meta.url));
  const data = { "tls.crt": pem("cert"), "tls.key": pem("key") };
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "web", namespace: "pki" }, stringData: data };
  const listener =
    "[{ name: https, port: 443, protocol: HTTPS, tls: { certificateRefs: [{ name: web, namespace: pki }] } }]";
  const text = `${gateway(listener)}\n---\n${JSON.stringify(secret)}` +
    route("r", `{ parentRefs: [{ name: edge }], rules: [{ ${TO_A} }] }`);
  const grant = `
---
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: { name: shop, namespace: pki }
spec: { from: [{ group: gateway.networking.k8s.io, kind: Gateway, namespace: shop }], to: [{ group: "", kind: Secret }] }`;
  assert.equal(await at(text + grant, "https://x.example.com/"), "10.0.0.1:80");
  assert.match(await wayOf(text, DOOR, "https://x.example.com/"), /no cluster/);
});

Deno.test("a VirtualService with the annotation of derived objects is an ordinary VirtualService, and the annotation is found", async () => {
  const text = service("a", "10.0.0.1") + `
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: own, namespace: shop, annotations: { internal.istio.io/route-semantics: ingress } }
spec:
  hosts: [front.example.com]
  gateways: [door]
  http: [{ match: [{ uri: { prefix: /cart } }], route: [{ destination: { host: a.shop.svc.cluster.local } }] }]
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: door, namespace: shop }
spec: { selector: { app: door }, servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*"] }] }
---
apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: door, namespace: shop }
spec: { address: 10.0.0.9, labels: { app: door } }`;
  assert.equal(await at(text, "http://front.example.com/carts"), "10.0.0.1:80");
  const found = checked(text).filter(({ name }) => name === "unknown-annotation").map(({ place }) => place.field);
  assert.deepEqual(found, ['metadata.annotations["internal.istio.io/route-semantics"]']);
});

/** A VirtualService for service b that names the derived Gateway of listener http. */
function byHand(created: string): string {
  return `
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: own, namespace: shop, creationTimestamp: ${created} }
spec:
  hosts: [x.example.com]
  gateways: [edge-istio-autogenerated-k8s-gateway-http]
  http: [{ match: [{ uri: { prefix: / }, method: { exact: GET } }], route: [{ destination: { host: b.shop.svc.cluster.local } }] }]`;
}

Deno.test("of a route and a VirtualService at its listener, with one host, the rules of the older object come first", async () => {
  const text = gateway(HTTP) + route(
    "r, creationTimestamp: 2024-06-01T00:00:00Z",
    `{ parentRefs: [{ name: edge }], hostnames: [x.example.com], rules: [{ matches: [{ path: { value: /b } }], ${TO_A} }] }`,
  );
  const ends = async (created: string) => [
    await at(text + byHand(created), "http://x.example.com/b"),
    await at(text + byHand(created), "http://x.example.com/other"),
  ];
  // The match of the route is more specific, and does not count against the older object.
  assert.deepEqual(await ends("2024-01-01T00:00:00Z"), ["10.0.0.2:80", "10.0.0.2:80"]);
  assert.deepEqual(await ends("2024-12-01T00:00:00Z"), ["10.0.0.1:80", "10.0.0.2:80"]);
});
