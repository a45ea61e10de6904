/** The cost of changes of Telemetries, and the affected proxies. */
import assert from "node:assert/strict";
import { contents, Fixture, type FixtureOptions, type TestNode, texts } from "./fixture.ts";

function service(i: number): object {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name: `s${i}`, namespace: "x" },
    spec: {
      hosts: [`s${i}.example.com`],
      addresses: [`10.1.0.${i}`],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      ports: [{ number: 9000 + i, name: "tcp", protocol: "TCP" }],
      endpoints: [{ address: `10.0.0.${i}`, labels: { app: `s${i}` } }],
    },
  };
}

function telemetry(name: string, filter: string, app?: string): object {
  const selector = app === undefined ? {} : { selector: { matchLabels: { app } } };
  const spec = { ...selector, accessLogging: [{ providers: [{ name: "envoy" }], filter: { expression: filter } }] };
  return { apiVersion: "telemetry.istio.io/v1", kind: "Telemetry", metadata: { name, namespace: "x" }, spec };
}

const COUNT = 20;

function world() {
  const extensionProviders = [
    { name: "envoy", proxyFileAccessLog: { path: "/dev/stdout" } },
    { name: "prometheus", prometheus: {} },
  ];
  const fixture = new Fixture({ mesh: { extensionProviders } });
  fixture.put(...Array.from({ length: COUNT }, (_, i) => service(i + 1)));
  fixture.pipeline.flush();
  const states = Array.from({ length: COUNT }, (_, i) => {
    const name = `s${i + 1}`;
    return fixture.join({ namespace: "x", address: `10.0.0.${i + 1}`, name, labels: { app: name } });
  });
  const counted = (change: () => void) => {
    const { caches } = fixture.pipeline.translator;
    const before = caches.of.listeners.counts.built;
    const sent = states.map(contents);
    change();
    fixture.pipeline.flush();
    assert.deepEqual(fixture.failures, []);
    const isOther = (i: number) => JSON.stringify(sent[i]) !== JSON.stringify(contents(states[i]!));
    return {
      listeners: caches.of.listeners.counts.built - before,
      changed: states.flatMap((_, i) => isOther(i) ? [i] : []),
    };
  };
  return { fixture, counted };
}

Deno.test("a Telemetry of one workload builds its listeners once, and sends nothing to the others", () => {
  const { fixture, counted } = world();
  assert.deepEqual(counted(() => fixture.put(telemetry("one", "a", "s3"))), { listeners: COUNT, changed: [2] });
  assert.deepEqual(counted(() => fixture.put(telemetry("one", "b", "s3"))), { listeners: COUNT, changed: [2] });
  assert.deepEqual(counted(() => fixture.remove("Telemetry/x/one")), { listeners: 0, changed: [2] });
});

Deno.test("Telemetries of equal content share their results", () => {
  const { fixture, counted } = world();
  fixture.put(telemetry("one", "a", "s1"));
  fixture.pipeline.flush();
  assert.deepEqual(counted(() => fixture.put(telemetry("two", "a", "s2"))), { listeners: 0, changed: [1] });
});

Deno.test("a Telemetry of the namespace builds each listener once for all its workloads", () => {
  const { fixture, counted } = world();
  const all = Array.from({ length: COUNT }, (_, i) => i);
  assert.deepEqual(counted(() => fixture.put(telemetry("all", "a"))), { listeners: COUNT, changed: all });
});

const tracers = [{ name: "tracer", opentelemetry: { service: "s1.example.com", port: 9001 } }];

/** The tracing of all listeners of a proxy, as text. */
function tracingOf(options: FixtureOptions, node: TestNode, ...objects: readonly object[]): string {
  const fixture = new Fixture({ ...options, mesh: { extensionProviders: tracers, ...options.mesh } });
  fixture.put(service(1), ...objects);
  fixture.pipeline.flush();
  const all = Object.entries(texts(fixture.join(node))).filter(([name]) => name.startsWith("listener/"));
  assert.deepEqual(fixture.failures, []);
  return all.map(([, text]) => text).join("\n");
}

const gateway = {
  apiVersion: "networking.mesh.io/v1",
  kind: "Gateway",
  metadata: { name: "door", namespace: "x" },
  spec: { selector: { app: "gw" }, servers: [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["*"] }] },
};
const traced = {
  apiVersion: "telemetry.istio.io/v1",
  kind: "Telemetry",
  metadata: { name: "traced", namespace: "x" },
  spec: { tracing: [{ providers: [{ name: "tracer" }] }] },
};
const sidecarNode: TestNode = { namespace: "x", address: "10.0.0.1", labels: { app: "s1" } };
const gatewayNode: TestNode = { namespace: "x", address: "10.0.0.9", labels: { app: "gw" }, type: "router" };

Deno.test("the sampling rate comes from the Telemetry, then the proxy, then the mesh, then PILOT_TRACE_SAMPLING", () => {
  const settings = { PILOT_TRACE_SAMPLING: 7 };
  const own = { PROXY_CONFIG: { stringValue: JSON.stringify({ tracing: { sampling: 30 } }) } };
  const sampled = (
    text: string,
  ) => [...new Set([...text.matchAll(/"random_sampling":{"value":([^}]+)}/g)].map(([, n]) => n))];
  const asked = { ...traced, spec: { tracing: [{ providers: [{ name: "tracer" }], randomSamplingPercentage: 44 }] } };
  assert.deepEqual(sampled(tracingOf({ settings }, sidecarNode, traced)), ["7"]);
  assert.deepEqual(sampled(tracingOf({ settings }, { ...sidecarNode, metadata: own }, traced)), ["30"]);
  assert.deepEqual(sampled(tracingOf({ settings }, { ...sidecarNode, metadata: own }, asked)), ["44"]);
});

Deno.test("without a Telemetry a proxy whose settings name a tracer is traced by it, unless enableTracing is false", () => {
  const metadata = { PROXY_CONFIG: { stringValue: JSON.stringify({ tracing: { zipkin: { address: "z:9411" } } }) } };
  assert.match(tracingOf({}, { ...sidecarNode, metadata }), /"random_sampling"/);
  assert.doesNotMatch(tracingOf({}, sidecarNode), /"random_sampling"/);
  assert.doesNotMatch(tracingOf({ mesh: { enableTracing: false } }, { ...sidecarNode, metadata }), /"random_sampling"/);
  const mesh = { defaultProviders: { tracing: ["tracer"] } };
  assert.match(tracingOf({ mesh }, sidecarNode), /envoy.tracers.opentelemetry/);
});

Deno.test("PILOT_SPAWN_UPSTREAM_SPAN_FOR_GATEWAY: gateways make a span of their own for each upstream request", () => {
  const settings = { PILOT_SPAWN_UPSTREAM_SPAN_FOR_GATEWAY: true };
  assert.match(tracingOf({ settings }, gatewayNode, gateway, traced), /"spawn_upstream_span"/);
  assert.doesNotMatch(tracingOf({ settings }, sidecarNode, traced), /"spawn_upstream_span"/);
  assert.doesNotMatch(tracingOf({}, gatewayNode, gateway, traced), /"spawn_upstream_span"/);
});

function metrics(name: string, spec: object, app?: string): object {
  const selector = app === undefined ? {} : { selector: { matchLabels: { app } } };
  const providers = [{ name: "prometheus" }];
  return {
    apiVersion: "telemetry.istio.io/v1",
    kind: "Telemetry",
    metadata: { name, namespace: "x" },
    spec: { ...selector, metrics: [{ providers, ...spec }] },
  };
}

const web = {
  apiVersion: "networking.mesh.io/v1",
  kind: "ServiceEntry",
  metadata: { name: "web", namespace: "x" },
  spec: {
    hosts: ["web.example.com"],
    addresses: ["10.1.1.1"],
    location: "MESH_INTERNAL",
    resolution: "STATIC",
    ports: [{ number: 80, name: "http", protocol: "HTTP" }],
    endpoints: [{ address: "10.0.0.1", labels: { app: "s1" } }],
  },
};

const PEERS = /x-mesh-peer/;
const STATS = /envoy\.access_loggers\.stats/;

/** All resources of a proxy, as one text. */
function everything(options: FixtureOptions, node: TestNode, ...objects: readonly object[]): string {
  const fixture = new Fixture(options);
  fixture.put(service(1), web, ...objects);
  fixture.pipeline.flush();
  const all = JSON.stringify(texts(fixture.join(node)));
  assert.deepEqual(fixture.failures, []);
  return all;
}

Deno.test("without providers no filters of metrics are sent; default providers send them to sidecars and gateways", () => {
  const mesh = { defaultProviders: { metrics: ["prometheus"] } };
  for (const node of [sidecarNode, gatewayNode]) {
    const off = everything({}, node, gateway);
    assert.doesNotMatch(off, PEERS);
    assert.doesNotMatch(off, STATS);
    assert.doesNotMatch(off, /peers/);
    const on = everything({ mesh }, node, gateway);
    assert.match(on, PEERS);
    assert.match(on, STATS);
  }
});

Deno.test("PILOT_ENABLE_METADATA_EXCHANGE turns the header off and leaves the metrics", () => {
  const mesh = { defaultProviders: { metrics: ["prometheus"] } };
  const text = everything({ mesh, settings: { PILOT_ENABLE_METADATA_EXCHANGE: false } }, sidecarNode);
  assert.match(text, STATS);
  assert.doesNotMatch(text, PEERS);
  assert.doesNotMatch(text, /DYNAMIC_METADATA|peers/);
});

Deno.test("plain connections are believed only where the proxy's settings say UNDEFINED", () => {
  const mesh = { defaultProviders: { metrics: ["prometheus"] } };
  const takesPeers = (mode?: string) => {
    const proxyHeaders = mode === undefined ? {} : { metadataExchangeHeaders: { mode } };
    const metadata = { PROXY_CONFIG: { stringValue: JSON.stringify({ proxyHeaders }) } };
    return /connection\.mtls \? '' : '-'/.test(everything({ mesh }, { ...sidecarNode, metadata }));
  };
  assert.deepEqual([takesPeers(), takesPeers("IN_MESH"), takesPeers("UNDEFINED")], [true, true, false]);
});

Deno.test("clusters outside the mesh get no header", () => {
  const outside = { ...web, spec: { ...web.spec, location: "MESH_EXTERNAL" } };
  const mesh = { defaultProviders: { metrics: ["prometheus"] } };
  const peersOf = (object: object) => {
    const fixture = new Fixture({ mesh });
    fixture.put(object);
    fixture.pipeline.flush();
    return /"peers"/.test(texts(fixture.join(sidecarNode))["cluster/outbound|80||web.example.com"] ?? "");
  };
  assert.deepEqual([peersOf(web), peersOf(outside)], [true, false]);
});

Deno.test("metrics of one workload concern that workload alone, once proxies exchange who they are", () => {
  const { fixture, counted } = world();
  fixture.put(metrics("all", {}));
  fixture.pipeline.flush();
  const off = { overrides: [{ disabled: true }] };
  assert.deepEqual(counted(() => fixture.put(metrics("one", off, "s3"))).changed, [2]);
  assert.deepEqual(counted(() => fixture.remove("Telemetry/x/one")), { listeners: 0, changed: [2] });
});
