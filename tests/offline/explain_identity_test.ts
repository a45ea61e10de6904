/**
 * Caller, callee, and their proxies: explanations use the labels, accounts and namespaces of translation and injection,
 * and never a proxy or a caller outside of the texts.
 */
import assert from "node:assert/strict";
import { explainRequest } from "../../lib/offline/explain/explain.ts";
import { onWay, worldOf } from "../../lib/offline/explain/of_mesh.ts";
import { readQuestion } from "../../lib/offline/explain/question.ts";
import { FieldPlaces } from "../../lib/offline/field_place.ts";
import { findProxy } from "../../lib/offline/find_proxy.ts";
import { proxiesOf } from "../../lib/offline/workloads.ts";
import { meshOf } from "./mesh_of.ts";

async function explain(text: string, from: string, to: string) {
  const mesh = meshOf({ "mesh.yaml": text }, { manifestServices: true });
  const { proxies, options } = proxiesOf(mesh);
  const world = worldOf(mesh, proxies, new FieldPlaces(() => text));
  const { hops, end, notes } = await explainRequest(
    readQuestion({ to }),
    onWay(findProxy(from, proxies, options).proxy),
    world,
  );
  return { proxies: hops.map(({ proxy: { namespace, name } }) => `${namespace}/${name}`), end, notes };
}

const namespace = (name: string, labels: object = {}) => document("v1", "Namespace", { name, labels }, {});

function document(apiVersion: string, kind: string, metadata: object, rest: object): string {
  return JSON.stringify({ apiVersion, kind, metadata, ...rest });
}

interface PodOptions {
  readonly labels?: object;
  readonly annotations?: object;
  readonly spec?: object;
}

/** A running pod, its service with ports for requests and for bytes, and a headless service beside it. */
function pod(
  namespace: string,
  name: string,
  address: string,
  { labels = {}, annotations = {}, spec = {} }: PodOptions,
) {
  const service = (name: string, clusterIP: string) =>
    document("v1", "Service", { name, namespace }, {
      spec: {
        clusterIP,
        selector: { app: name },
        ports: [{ name: "http", port: 80, targetPort: 8080 }, { name: "tcp-db", port: 3306 }],
      },
    });
  const slice = (name: string) =>
    document(
      "discovery.k8s.io/v1",
      "EndpointSlice",
      { name, namespace, labels: { "kubernetes.io/service-name": name } },
      {
        addressType: "IPv4",
        ports: [{ name: "http", port: 8080 }, { name: "tcp-db", port: 3306 }],
        endpoints: [{
          addresses: [address],
          conditions: { ready: true },
          targetRef: { kind: "Pod", name: `${name}-1`, namespace },
        }],
      },
    );
  return [
    document("v1", "Pod", { name: `${name}-1`, namespace, labels: { app: name, ...labels }, annotations }, {
      spec: { serviceAccountName: name, nodeName: "n", containers: [{ name: "app", image: "app" }], ...spec },
      status: {
        phase: "Running",
        podIP: address,
        podIPs: [{ ip: address }],
        conditions: [{ type: "Ready", status: "True" }],
      },
    }),
    service(name, `10.96.0.${address.split(".")[3]}`),
    slice(name),
    service(`${name}-direct`, "None").replace(`"app":"${name}-direct"`, `"app":"${name}"`),
    slice(`${name}-direct`).replace(`${name}-direct-1`, `${name}-1`),
  ].join("\n---\n");
}

const MESHED = { labels: { "security.istio.io/tlsMode": "istio" } };

const security = (kind: string, namespace: string, name: string, spec: object) =>
  document("security.istio.io/v1", kind, { name, namespace }, { spec });
const strict = (namespace: string) => security("PeerAuthentication", namespace, "all", { mtls: { mode: "STRICT" } });
const mutualTo = (host: string) =>
  document("networking.istio.io/v1", "DestinationRule", { name: "rule", namespace: "mesh-system" }, {
    spec: { host, trafficPolicy: { tls: { mode: "ISTIO_MUTUAL" } } },
  });

/** A client and a server of the mesh, and an old server outside of it. */
const WORLD = [
  namespace("shop", { "istio-injection": "enabled" }),
  namespace("old"),
  pod("shop", "client", "10.0.0.2", MESHED),
  pod("shop", "server", "10.0.0.3", MESHED),
  pod("old", "legacy", "10.0.0.4", {}),
];
const world = (...more: string[]) => [...WORLD, ...more].join("\n---\n");

Deno.test("a pod without a sidecar gets plain requests as they are, whatever its namespace demands of sidecars", async () => {
  const { proxies, end, notes } = await explain(world(strict("old")), "shop/client-1", "http://legacy.old/");
  assert.deepEqual([proxies, end.text], [["shop/client-1"], "forwarded 10.0.0.4:8080 (1 of 1 healthy)"]);
  assert.deepEqual(notes, ["no proxy runs beside old/legacy-1: the workload gets the request as it is"]);
});

Deno.test("mutual TLS that a rule asks for ends nowhere at a pod without a sidecar: 503 for requests, closed for bytes", async () => {
  const mesh = world(mutualTo("legacy.old.svc.cluster.local"));
  const request = await explain(mesh, "shop/client-1", "http://legacy.old/");
  assert.deepEqual([request.end.text, request.notes], [
    "answered 503: no proxy beside old/legacy-1 ends mutual TLS",
    [],
  ]);
  const bytes = await explain(mesh, "shop/client-1", "tcp://legacy.old:3306");
  assert.equal(bytes.end.text, "connection closed: no proxy beside old/legacy-1 ends mutual TLS");
});

Deno.test("a client without a sidecar sends plain text: a STRICT policy of the server refuses it, and no policy of its own side does", async () => {
  const served = await explain(world(strict("old")), "old/legacy-1", "http://server.shop/");
  assert.deepEqual([served.proxies, served.end.endpoint], [["shop/server-1"], "10.0.0.3:8080"]);
  const refused = await explain(world(strict("shop")), "old/legacy-1", "http://server.shop/");
  assert.deepEqual([refused.proxies, refused.end.text], [
    ["shop/server-1"],
    "connection closed: no filter chain matches",
  ]);
  const named = security("AuthorizationPolicy", "shop", "named", {
    rules: [{ from: [{ source: { principals: ["*"] } }] }],
  });
  assert.equal((await explain(world(named), "old/legacy-1", "http://server.shop/")).end.status, 403);
});

const withoutTls = (more: object) => security("PeerAuthentication", "shop", "port", more);
const SERVER = { selector: { matchLabels: { app: "server" } } };
const direct = (...policies: string[]) =>
  explain(world(strict("mesh-system"), ...policies), "shop/client-1", "tcp://server-direct.shop:3306");

Deno.test("a port with a DISABLE policy is reached in plain text, by its service and by the address of a headless service", async () => {
  for (const policy of [{ ...SERVER, portLevelMtls: { 3306: { mode: "DISABLE" } } }, { mtls: { mode: "DISABLE" } }]) {
    const mesh = world(strict("mesh-system"), withoutTls(policy));
    assert.equal((await explain(mesh, "shop/client-1", "tcp://server.shop:3306")).end.kind, "forwarded");
    assert.equal((await direct(withoutTls(policy))).end.kind, "forwarded", JSON.stringify(policy));
    assert.equal((await explain(mesh, "shop/client-1", "http://server.shop/")).end.kind, "forwarded");
  }
});

Deno.test("mutual TLS that a rule asks for is closed by a port that takes its bytes as they are", async () => {
  const policy = withoutTls({ ...SERVER, portLevelMtls: { 3306: { mode: "DISABLE" } } });
  const { end } = await direct(policy, mutualTo("server-direct.shop.svc.cluster.local"));
  assert.equal(end.text, "connection closed: the port takes no mutual TLS, and shop/server-1 gets it as bytes");
});

Deno.test("one endpoint that takes no mutual TLS makes the connections to the others of a headless service no plainer", async () => {
  const second = pod("shop", "second", "10.0.0.6", MESHED)
    .replace('"kubernetes.io/service-name":"second-direct"', '"kubernetes.io/service-name":"server-direct"');
  const mesh = world(
    strict("mesh-system"),
    second,
    withoutTls({ selector: { matchLabels: { app: "second" } }, mtls: { mode: "DISABLE" } }),
  );
  const ends = ["10.0.0.3", "10.0.0.6"].map(async (ip) =>
    (await explain(mesh, "shop/client-1", `tcp://${ip}:3306`)).end
  );
  assert.deepEqual((await Promise.all(ends)).map(({ kind }) => kind), ["forwarded", "closed"]);
});

Deno.test("the account of a named pod is judged by principals, namespaces and service accounts", async () => {
  const allow = (source: object) =>
    world(security("AuthorizationPolicy", "shop", "p", { rules: [{ from: [{ source }] }] }));
  const cases: readonly [object, string][] = [
    [{ principals: ["cluster.local/ns/shop/sa/client"] }, "forwarded"],
    [{ principals: ["cluster.local/ns/shop/sa/other"] }, "answered"],
    [{ notPrincipals: ["*/sa/client"] }, "answered"],
    [{ namespaces: ["shop"] }, "forwarded"],
    [{ namespaces: ["old", "sho"] }, "answered"],
    [{ notNamespaces: ["old"] }, "forwarded"],
    [{ serviceAccounts: ["client"] }, "forwarded"],
    [{ serviceAccounts: ["old/client", "other"] }, "answered"],
  ];
  for (const [source, kind] of cases) {
    const { end } = await explain(allow(source), "shop/client-1", "http://server.shop/");
    assert.deepEqual([end.kind, end.status], [kind, kind === "answered" ? 403 : undefined], JSON.stringify(source));
  }
});

Deno.test("for a caller whose account is in no text, conditions on its namespace are judged, and conditions on its account are not", async () => {
  const vm = document("networking.istio.io/v1", "WorkloadEntry", { name: "vm", namespace: "shop" }, {
    spec: { address: "10.0.0.9", labels: { app: "vm" } },
  });
  const allow = (source: object) =>
    world(vm, security("AuthorizationPolicy", "shop", "p", { rules: [{ from: [{ source }] }] }));
  const cases: readonly [object, string][] = [
    [{ namespaces: ["shop"] }, "forwarded"],
    [{ namespaces: ["old"] }, "answered"],
    [{ principals: ["cluster.local/ns/shop/*"] }, "forwarded"],
    [{ principals: ["cluster.local/ns/old/sa/vm"] }, "answered"],
    [{ principals: ["cluster.local/ns/shop/sa/vm"] }, "unknown"],
    [{ serviceAccounts: ["vm"] }, "unknown"],
    [{ principals: ["*"] }, "forwarded"],
  ];
  for (const [source, kind] of cases) {
    const { end } = await explain(allow(source), "shop/vm", "http://server.shop/");
    assert.equal(end.kind, kind, `${JSON.stringify(source)} ${end.text}`);
  }
});

Deno.test("what runs beside pods is what the orchestrator shows of them; of pods to come, what injection would decide", async () => {
  const plain = "forwarded 10.0.0.5:8080 (1 of 1 healthy)";
  const closed = "connection closed: no filter chain matches";
  const proxy = { spec: { containers: [{ name: "app", image: "app" }, { name: "istio-proxy", image: "proxy" }] } };
  const cases: readonly [PodOptions, string][] = [
    [{}, plain],
    [{ labels: { "security.istio.io/tlsMode": "disabled" } }, plain],
    [{ ...proxy, labels: { "security.istio.io/tlsMode": "disabled" } }, closed],
    [{ spec: { hostNetwork: true } }, plain],
  ];
  for (const [options, text] of cases) {
    const mesh = world(strict("shop"), pod("shop", "next", "10.0.0.5", options));
    assert.equal((await explain(mesh, "shop/client-1", "http://next.shop/")).end.text, text, JSON.stringify(options));
  }
});

Deno.test("where nothing says whether a proxy runs there, one is assumed, and a note says so where it refuses", async () => {
  const entry = (more: object) =>
    document("networking.istio.io/v1", "ServiceEntry", { name: "vm", namespace: "shop" }, {
      spec: {
        hosts: ["vm.test"],
        location: "MESH_INTERNAL",
        resolution: "STATIC",
        addresses: ["10.1.1.1"],
        ports: [{ number: 80, name: "http", protocol: "HTTP" }],
        endpoints: [{ address: "10.0.0.9", ...more }],
      },
    });
  const ask = (more: object, ...others: string[]) =>
    explain(world(entry(more), ...others), "shop/client-1", "http://vm.test/");
  const assumed = await ask({}, strict("shop"));
  assert.equal(assumed.end.text, "connection closed: no filter chain matches");
  assert.deepEqual(assumed.notes, [
    "nothing says whether a proxy runs beside shop/vm; without one it gets the request as it is",
  ]);
  assert.deepEqual((await ask({})).notes, []);
  assert.equal((await ask({ serviceAccount: "vm" }, strict("shop"))).end.kind, "forwarded");
  const without = await ask({ labels: { "security.istio.io/tlsMode": "disabled" } }, strict("shop"));
  assert.deepEqual([without.proxies, without.end.kind], [["shop/client-1"], "forwarded"]);
});

Deno.test("a server without an identity that the client expects gets no request", async () => {
  const rule = document("networking.istio.io/v1", "DestinationRule", { name: "rule", namespace: "shop" }, {
    spec: {
      host: "server.shop.svc.cluster.local",
      trafficPolicy: { tls: { mode: "ISTIO_MUTUAL", subjectAltNames: ["spiffe://cluster.local/ns/shop/sa/other"] } },
    },
  });
  const { end } = await explain(world(rule), "shop/client-1", "http://server.shop/");
  assert.match(end.text, /^answered 503: spiffe:\/\/cluster\.local\/ns\/shop\/sa\/server is not one of the names that/);
});
