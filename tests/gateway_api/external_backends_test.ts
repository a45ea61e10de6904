/** XBackends of a folder: where requests go, who may send them, and what clients in the mesh see of an XBackend. */
import assert from "node:assert/strict";
import { resourcesOf, wayOf, type WaySettings } from "../offline/way.ts";
import { findingsIn } from "../analyze/support/analyzed.ts";
import { AttachWorld, OPTIONS } from "./attach_world.ts";
import { externalBackendView } from "../../lib/gateway_api/attach/external_backends.ts";
import { externalBackendStatus } from "../../lib/gateway_api/status/external_backends.ts";
import { envoyPath } from "../envoy/path.ts";
import { ask } from "./derive/traffic.ts";
import { document, edgeGateway, httpRoute } from "./folder_world.ts";
import { withBackends, withFolder } from "./running_folder.ts";

const ALPHA = { PILOT_ENABLE_ALPHA_GATEWAY_API: true };
const DOOR = "router~10.0.0.9~door.shop~shop.svc.cluster.local";
const CLIENT = "sidecar~10.0.0.7~client.shop~shop.svc.cluster.local";
const GROUP = "gateway.networking.x-k8s.io";

const WORKLOADS = document({
  apiVersion: "networking.mesh.io/v1",
  kind: "WorkloadEntry",
  metadata: { name: "door", namespace: "shop" },
  spec: { address: "10.0.0.9", labels: { "gateway.networking.k8s.io/gateway-name": "edge" } },
});

/** XBackend `pay` of a namespace. */
function external(more: object = {}, namespace = "shop", hostname = "pay.example.com", port = 8443): string {
  return document({
    apiVersion: `${GROUP}/v1alpha1`,
    kind: "XBackend",
    metadata: { name: "pay", namespace },
    spec: { type: "ExternalHostname", port: { port }, externalHostname: { hostname }, ...more },
  });
}

/** Gateway `shop/edge` with an HTTPRoute to XBackend `pay`. */
function edge(ref: object = {}, kind = "HTTPRoute"): string {
  const to = { backendRefs: [{ group: GROUP, kind: "XBackend", name: "pay", ...ref }] };
  const route = httpRoute("web", [to]);
  return edgeGateway([{ name: "http", port: 80, protocol: "HTTP" }]) + route.replace("HTTPRoute", kind) + WORKLOADS;
}

function way(text: string, settings: WaySettings = ALPHA): Promise<string> {
  return wayOf(text, DOOR, "http://shop.test/", settings);
}

const CLUSTER = "outbound|8443||pay.shop.xbackend.internal";
/** The dot: search domains of the pod do not count. */
const SERVED = "pay.shop.xbackend.internal:8443 > pay.example.com.:8443";

interface Cluster {
  readonly name: string;
  readonly type?: string;
  readonly transport_socket?: { readonly typed_config: { readonly sni?: string; readonly common_tls_context: object } };
  readonly typed_extension_protocol_options?: object;
}

function clusterOf(text: string, from = DOOR): Cluster | undefined {
  const { clusters = [] } = resourcesOf(text, from, ["cds"], ALPHA) as unknown as { clusters?: Cluster[] };
  return clusters.find(({ name }) => name === CLUSTER);
}

Deno.test("requests of a route go to the host and port of its XBackend", async () => {
  assert.equal(await way(edge() + external()), SERVED);
  assert.equal(await way(edge({ port: 8443 }) + external()), SERVED);
  assert.equal(await way(edge({ port: 80 }) + external()), "no cluster > 500", "an XBackend has one port");
  assert.equal(await way(edge()), "no cluster > 500", "there is no XBackend");
});

Deno.test("a route of another namespace needs a grant of the XBackend's namespace", async () => {
  const grant = (group: string, name: string) =>
    document({
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "ReferenceGrant",
      metadata: { name: "routes", namespace: "pay" },
      spec: {
        from: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "shop" }],
        to: [{ group, kind: "XBackend", name }],
      },
    });
  const text = edge({ namespace: "pay" }) + external({}, "pay");
  assert.equal(await way(text), "no cluster > 500");
  assert.equal(await way(text + grant(GROUP, "other")), "no cluster > 500");
  assert.equal(await way(text + grant("gateway.networking.k8s.io", "pay")), "no cluster > 500");
  assert.equal(await way(text + grant(GROUP, "pay")), SERVED.replace("pay.shop", "pay.pay"));
  const [found] = findingsIn({ "a.yaml": text }, {}, ALPHA);
  assert.equal(found?.name, "unusable-backend");
  assert.match(found.message, /a ReferenceGrant in namespace pay/);
});

Deno.test("without the setting an XBackend is no kind of backend", async () => {
  assert.equal(await way(edge() + external(), {}), "no cluster > 500");
  const names = findingsIn({ "a.yaml": edge() + external() }).map(({ name, place }) =>
    `${name} ${place.objects[0]?.kind}`
  );
  assert.deepEqual(names.sort(), ["gateway-api-off XBackend", "unusable-backend HTTPRoute"]);
});

Deno.test("TLS to an XBackend verifies the host's certificate, and without authorities the backend is closed", () => {
  assert.equal(clusterOf(edge() + external())?.transport_socket, undefined);
  assert.equal(clusterOf(edge() + external({ tls: { mode: "None" } }))?.transport_socket, undefined);
  const tls = clusterOf(edge() + external({ tls: { mode: "ServerOnly" } }))?.transport_socket?.typed_config;
  assert.equal(tls?.sni, "pay.example.com");
  assert.match(JSON.stringify(tls?.common_tls_context), /"exact":"pay\.example\.com".*"file-root:system"/);
  const validation = { hostname: "cert.test", caCertificateRefs: [{ group: "", kind: "ConfigMap", name: "roots" }] };
  const closed = edge() + external({ tls: { mode: "ServerOnly", validation } });
  assert.deepEqual(clusterOf(closed)?.transport_socket, undefined);
  assert.equal(clusterOf(closed)?.type ?? "STATIC", "STATIC", "no endpoint is dialled");
  assert.deepEqual(
    findingsIn({ "a.yaml": closed }, {}, ALPHA).map(({ name, place }) => `${name} ${place.field}`),
    ["unused-external-backend spec.tls.validation"],
  );
});

Deno.test("an address, a host of the cluster and a certificate of the client are refused: 500, and a finding", async () => {
  const client = { tls: { mode: "ClientAndServer", clientCertificateRef: { name: "client" } } };
  for (
    const [text, field] of [
      [external({}, "shop", "192.0.2.7"), "spec.externalHostname.hostname"],
      [external(client), "spec.tls.mode"],
    ] as const
  ) {
    assert.equal(await way(edge() + text), "no cluster > 500");
    const found = findingsIn({ "a.yaml": edge() + text }, {}, ALPHA).map(({ name, place }) => `${name} ${place.field}`);
    assert.deepEqual(found.sort(), [
      "unusable-backend spec.rules[0].backendRefs[0].name",
      `unused-external-backend ${field}`,
    ]);
  }
});

Deno.test("names that mean Services or the proxy's own pod are no hosts outside of the cluster", async () => {
  const inside = [
    "localhost",
    "admin.localhost",
    "secret",
    "secret.pay.svc",
    "127.1",
    "2130706433",
    "10.0x7f",
    "127.0.0.1",
  ];
  for (const name of inside) {
    const text = edge() + external({}, "shop", name);
    assert.equal(await way(text), "no cluster > 500", name);
    const found = findingsIn({ "a.yaml": text }, {}, ALPHA).map(({ name, place }) => `${name} ${place.field}`);
    assert.ok(found.includes("unused-external-backend spec.externalHostname.hostname"), `${name}: ${found.join()}`);
  }
  // A Service of namespace `pay` for resolvers that try search domains.
  assert.equal(await way(edge() + external({}, "shop", "secret.pay")), SERVED.replace("pay.example.com", "secret.pay"));
});

Deno.test("the protocol of an XBackend is the protocol of its connections, and calls need HTTP/2", async () => {
  const version = (protocol: string) =>
    /http2_protocol_options/.test(
      JSON.stringify(clusterOf(edge() + external({ protocol }))?.typed_extension_protocol_options ?? {}),
    );
  assert.deepEqual(["HTTP", "HTTP11", "MCP", "HTTP2", "H2C"].map(version), [false, false, false, true, true]);
  const reasons = (text: string) =>
    findingsIn({ "a.yaml": text }, {}, ALPHA).map(({ name, place, expected }) => `${name} ${place.field} ${expected}`);
  assert.deepEqual(reasons(edge() + external({ protocol: "TCP" })), [
    "unusable-backend spec.rules[0].backendRefs[0].name an XBackend with protocol HTTP, HTTP2, HTTP11, H2C, MCP " +
    "(the protocol of shop/pay is TCP)",
  ]);
  assert.equal(await way(edge() + external({ protocol: "TCP" })), "no cluster > 500");
  assert.deepEqual(reasons(edge({}, "GRPCRoute") + external({ protocol: "HTTP2" })), []);
  assert.deepEqual(reasons(edge({}, "GRPCRoute") + external()), [
    "unusable-backend spec.rules[0].backendRefs[0].name an XBackend with protocol HTTP2, H2C " +
    "(the protocol of shop/pay is not given)",
  ]);
});

Deno.test("clients in the mesh have the cluster for routes at Services, and no listener or route for an XBackend", () => {
  for (const protocol of ["HTTP", "TCP"]) {
    const text = edge() + external({ protocol });
    assert.ok(clusterOf(text, CLIENT));
    const others = resourcesOf(text, CLIENT, ["lds", "rds"], ALPHA);
    assert.doesNotMatch(JSON.stringify(others), /xbackend|8443/);
  }
});

Deno.test("only proxies of namespaces whose routes lead to an XBackend know the XBackend", () => {
  const far = "sidecar~10.0.0.8~client.far~far.svc.cluster.local";
  const route = (namespace: string, parent: object, more: object = {}) =>
    document({
      ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute", metadata: { name: "r", namespace } },
      spec: {
        parentRefs: [parent],
        rules: [{ backendRefs: [{ group: GROUP, kind: "XBackend", name: "pay", namespace: "shop", ...more }] }],
      },
    });
  const know = (text: string) => [DOOR, far].map((from) => clusterOf(text + WORKLOADS, from) !== undefined);
  const ofService = (namespace: string) => ({ group: "", kind: "Service", name: "cart", namespace });
  assert.deepEqual(know(external()), [false, false], "no route");
  assert.deepEqual(know(edge() + external()), [true, false], "a route at a Gateway of namespace shop");
  assert.deepEqual(know(external() + route("far", { name: "edge", namespace: "shop" })), [false, false], "no grant");
  assert.deepEqual(know(external() + route("far", ofService("shop"))), [false, true], "for clients of namespace far");
  assert.deepEqual(know(external() + route("shop", ofService("shop"))), [true, true], "for all clients");
});

Deno.test("a route at a Service leads clients in the mesh to an XBackend", async () => {
  const cart = document({
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name: "cart", namespace: "shop" },
    spec: {
      hosts: ["cart.shop.svc.cluster.local"],
      resolution: "STATIC",
      location: "MESH_INTERNAL",
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      endpoints: [{ address: "10.0.0.1" }],
    },
  });
  const route = document({
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name: "cart", namespace: "shop" },
    spec: {
      parentRefs: [{ group: "", kind: "Service", name: "cart" }],
      rules: [{ backendRefs: [{ group: GROUP, kind: "XBackend", name: "pay" }] }],
    },
  });
  assert.equal(await wayOf(cart + route + external(), CLIENT, "http://cart.shop/", ALPHA), SERVED);
});

Deno.test("an XBackendTrafficPolicy for an XBackend limits retries to the XBackend; a BackendTLSPolicy cannot name an XBackend", () => {
  const policy = (apiVersion: string, kind: string, spec: object) =>
    document({
      ...{ apiVersion, kind, metadata: { name: "pay", namespace: "shop" } },
      spec: { targetRefs: [{ group: GROUP, kind: "XBackend", name: "pay" }], ...spec },
    });
  const limit = policy(`${GROUP}/v1alpha1`, "XBackendTrafficPolicy", { retryConstraint: {} });
  assert.match(JSON.stringify(clusterOf(edge() + external() + limit)), /"retry_budget"/);
  const found = (text: string) => findingsIn({ "a.yaml": text }, {}, ALPHA).map(({ message }) => message);
  assert.deepEqual(found(edge() + external() + limit), []);
  assert.match(found(limit).join(), /targetRefs\[0\].*an XBackend that exists/);
  const validation = { hostname: "a.test", wellKnownCACertificates: "System" };
  const tls = policy("gateway.networking.k8s.io/v1", "BackendTLSPolicy", { validation });
  assert.match(found(edge() + external() + tls).join(), /a Service or ServiceEntry/);
});

Deno.test("a backend of kind Hostname does not lead to an XBackend: the name would be a way around the grant", async () => {
  const name = "pay.pay.xbackend.internal";
  const text = edge({ group: "networking.mesh.io", kind: "Hostname", name, port: 8443 }) + external({}, "pay");
  assert.equal(await way(text), "no cluster > 500");
});

Deno.test("a user's ServiceEntry cannot have the host of an XBackend", () => {
  const text = document({
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name: "mine", namespace: "evil" },
    spec: { hosts: ["Pay.shop.xbackend.internal"], ports: [{ number: 8443, name: "http", protocol: "HTTP" }] },
  });
  const errors = findingsIn({ "a.yaml": text }, {}, ALPHA).filter(({ severity }) => severity === "error");
  assert.deepEqual(errors.map(({ place }) => place.field), ["spec.hosts[0]"]);
});

Deno.test("the status of an XBackend has an entry for each Gateway that routes to the XBackend", () => {
  const status = (text: string) => {
    const world = new AttachWorld(text);
    const view = externalBackendView(world.object("XBackend", "pay", "shop"), world.read, OPTIONS);
    const gateway = (name: string, ...hosts: readonly string[]) => ({
      ...{ namespace: "shop", name, controller: "mesh.io/gateway-controller", hosts: new Set(hosts) },
    });
    const gateways = [gateway("other", "a.test"), gateway("edge", "pay.shop.xbackend.internal")];
    const report = { view, gateways, isOurs: () => true };
    const { parents } = externalBackendStatus(report, {}, "2026-02-02T00:00:00Z") as unknown as {
      parents: { parentRef: { name: string }; conditions: { type: string; reason: string }[] }[];
    };
    return parents.map(({ parentRef: { name }, conditions }) =>
      `${name}: ${conditions.map(({ type, reason }) => `${type} ${reason}`).join(", ")}`
    );
  };
  assert.deepEqual(status(external()), ["edge: Accepted Accepted"]);
  assert.deepEqual(status(external({}, "shop", "192.0.2.7")), ["edge: Accepted Invalid"]);
  const validation = { hostname: "cert.test", caCertificateRefs: [{ group: "", kind: "ConfigMap", name: "roots" }] };
  assert.deepEqual(status(external({ tls: { mode: "ServerOnly", validation } })), [
    "edge: Accepted NoValidCACertificate, ResolvedRefs InvalidCACertificateRef",
  ]);
});

const binary = envoyPath();

Deno.test({
  name: "a real Envoy sends requests to the address of an XBackend's host",
  ignore: binary === undefined,
  fn: () =>
    withBackends({ pay: {} }, async ({ pay: port }) => {
      const text = edge() + external({}, "shop", "pay.example.com", port);
      await withFolder(
        binary!,
        text,
        { namespace: "shop", name: "edge" },
        async ({ socket }) => {
          const { status, headers } = await ask({ socket: socket(80) }, { host: "shop.test", path: "/" });
          assert.deepEqual([status, headers["x-backend"]], [200, "pay"]);
        },
        ALPHA,
        { "pay.example.com.": "127.0.0.1" },
      );
    }),
});
