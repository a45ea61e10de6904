/** Rules for every proxy, independent of other objects. */
import assert from "node:assert/strict";
import { contents, Fixture, type TestNode, texts } from "./fixture.ts";

const apiVersion = "networking.mesh.io/v1";
const host = "svc.a.svc.cluster.local";
const node: TestNode = { namespace: "a", address: "172.16.0.9", labels: { app: "p" } };

const service = {
  apiVersion,
  kind: "ServiceEntry",
  metadata: { namespace: "a", name: "svc" },
  spec: {
    hosts: [host],
    addresses: ["10.9.0.1"],
    location: "MESH_INTERNAL",
    resolution: "STATIC",
    ports: [
      { number: 80, name: "http", protocol: "HTTP" },
      { number: 9000, name: "tcp", protocol: "TCP" },
      { number: 9443, name: "tls", protocol: "TLS" },
    ],
    endpoints: [{ address: "172.16.0.1", labels: { version: "v1" } }],
  },
};
const subsets = {
  apiVersion,
  kind: "DestinationRule",
  metadata: { namespace: "a", name: "svc" },
  spec: { host, subsets: [{ name: "v1", labels: { version: "v1" } }] },
};
const route = [{ destination: { host, subset: "v1" } }];
const rules = {
  http: [{ timeout: "1s", route }],
  tcp: [{ route }],
  tls: [{ match: [{ sniHosts: [host] }], route }],
};

function virtualService(name: string, created: number, spec: object) {
  const creationTimestamp = new Date(created).toISOString();
  return {
    apiVersion,
    kind: "VirtualService",
    metadata: { namespace: "a", name, creationTimestamp },
    spec: { hosts: [host], ...spec },
  };
}

Deno.test("HTTP, TCP and TLS rules of one host hold when they stand in three objects, whichever is the oldest", () => {
  const whole = new Fixture();
  whole.put(service, subsets, virtualService("all", 1000, rules));
  whole.pipeline.flush();
  const wanted = texts(whole.join(node));
  const rows = (text: Record<string, string>) =>
    Object.entries(text).filter(([name]) => /^(listener|virtualHost)\/.*(9000|9443|:80)$/.test(name))
      .map(([name, value]) => [name, value.replaceAll(/virtual-service\/[a-z]+/g, "virtual-service/X")]);
  assert.match(JSON.stringify(rows(wanted)), /9000\|v1\|svc/);
  for (const order of [["http", "tcp", "tls"], ["tcp", "tls", "http"], ["tls", "http", "tcp"]] as const) {
    const split = new Fixture();
    split.put(service, subsets);
    order.forEach((kind, i) => split.put(virtualService(kind, 1000 + 1000 * i, { [kind]: rules[kind] })));
    split.pipeline.flush();
    assert.deepEqual(rows(texts(split.join(node))), rows(wanted), order.join());
  }
});

Deno.test("every route configuration that a listener names is there, also where a Sidecar shows no host at all", () => {
  const nothing = {
    apiVersion,
    kind: "Sidecar",
    metadata: { namespace: "a", name: "nothing" },
    spec: { egress: [{ hosts: ["~/*"] }] },
  };
  for (const delta of [true, false]) {
    const fixture = new Fixture({ mesh: { proxyHttpPort: 15333 } });
    fixture.put(service);
    fixture.pipeline.flush();
    const state = fixture.join({ ...node, delta });
    assert.ok("route/http_proxy" in contents(state));
    const before = contents(state);
    fixture.put(nothing);
    fixture.pipeline.flush();
    assert.ok("route/http_proxy" in contents(state), "with a Sidecar that shows nothing");
    assert.ok(!("route/80" in contents(state)));
    fixture.remove("Sidecar/a/nothing");
    fixture.pipeline.flush();
    assert.deepEqual(contents(state), before);
    const named = Object.values(texts(state)).flatMap((text) => [...text.matchAll(/"route_config_name":"([^"]+)"/g)]);
    for (const [, name] of named) assert.ok(`route/${name}` in contents(state), `${name}`);
  }
});

Deno.test("an ingress port of a Sidecar is at the workload's address where nothing is captured, and names the Sidecar", () => {
  const fixture = new Fixture();
  fixture.put({
    apiVersion,
    kind: "Sidecar",
    metadata: { namespace: "a", name: "own" },
    spec: {
      ingress: [{ port: { number: 8080, protocol: "HTTP", name: "http" }, defaultEndpoint: "127.0.0.1:9090" }],
      egress: [{ hosts: ["*/*"] }],
    },
  });
  fixture.pipeline.flush();
  const metadata = { INTERCEPTION_MODE: { stringValue: "NONE" } };
  const found = texts(fixture.join({ ...node, metadata }));
  const listener = found["listener/172.16.0.9_8080"];
  assert.ok(listener, Object.keys(found).join());
  assert.match(listener, /namespaces\/a\/sidecar\/own/);
  assert.match(listener, /"operation":"own\.a:8080\/\*"/);
});

Deno.test("a proxy that has another name for its cluster keeps the inbound side that service entries give it", () => {
  const fixture = new Fixture();
  fixture.put(service);
  fixture.pipeline.flush();
  for (const clusterId of ["Orch", "Kubernetes", "elsewhere"]) {
    const metadata = { CLUSTER_ID: { stringValue: clusterId } };
    const state = fixture.join({ namespace: "a", address: "172.16.0.1", metadata });
    assert.ok("cluster/inbound|80||" in contents(state), clusterId);
  }
});

Deno.test("one host that an egress listener imports brings the virtual service with all its hosts", () => {
  const fixture = new Fixture({ mesh: { defaultServiceExportTo: ["."] } });
  const egress = [
    { port: { number: 80, protocol: "HTTP", name: "http" }, hosts: [`a/${host}`] },
    { port: { number: 8080, protocol: "HTTP", name: "other" }, hosts: ["a/else.example.com"] },
  ];
  const both = virtualService("both", 1000, {});
  fixture.put(service, {
    ...both,
    spec: { hosts: [host, "web.other.com"], http: [{ route: [{ destination: { host } }] }] },
  }, {
    apiVersion,
    kind: "Sidecar",
    metadata: { namespace: "a", name: "own" },
    spec: { egress },
  });
  fixture.pipeline.flush();
  const found = contents(fixture.join(node));
  assert.ok("virtualHost/80/web.other.com:80" in found, Object.keys(found).join());
  assert.ok(
    !Object.keys(found).some((name) => name.startsWith("virtualHost/8080/")),
    "the other listener imports neither",
  );
});

Deno.test("no Sidecar narrows the view of a gateway, neither of its namespace nor of the root namespace", () => {
  const gateway: TestNode = { namespace: "a", address: "172.16.0.20", type: "router", labels: { app: "gw" } };
  const sidecar = (namespace: string, spec: object) => ({
    apiVersion,
    kind: "Sidecar",
    metadata: { namespace, name: "narrow" },
    spec: { egress: [{ hosts: ["~/*"] }], outboundTrafficPolicy: { mode: "REGISTRY_ONLY" }, ...spec },
  });
  const fixture = new Fixture();
  fixture.put(service);
  fixture.pipeline.flush();
  const state = fixture.join(gateway);
  const before = contents(state);
  assert.ok(`cluster/outbound|80||${host}` in before);
  fixture.put(sidecar("mesh-system", {}), sidecar("a", { workloadSelector: { labels: { app: "gw" } } }));
  fixture.pipeline.flush();
  assert.deepEqual(contents(state), before);
  assert.deepEqual(contents(fixture.join({ ...gateway, address: "172.16.0.21" })), before);
  const narrowed = fixture.join({ ...gateway, address: "172.16.0.22", type: "sidecar" });
  assert.ok(!(`cluster/outbound|80||${host}` in contents(narrowed)));
});
