/** A host under a wildcard service: one function decides the target of a reference and its findings. */
import assert from "node:assert/strict";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { checkMesh } from "../../lib/offline/check/check.ts";
import { findProxy } from "../../lib/offline/find_proxy.ts";
import { resourcesJson } from "../../lib/offline/proxy_resources.ts";
import { proxiesOf } from "../../lib/offline/workloads.ts";
import { meshOf } from "./mesh_of.ts";
import { checked, type explained, resourcesOf, wayOf, type WaySettings } from "./way.ts";

const entry = (name: string, hosts: string[], endpoint: string, ports: object[], more: object = {}) =>
  object("ServiceEntry", name, {
    hosts,
    location: "MESH_INTERNAL",
    resolution: "STATIC",
    ports,
    endpoints: [{ address: endpoint, labels: { version: "v1" } }],
    ...more,
  });

const object = (kind: string, name: string, spec: object, namespace = "prod") =>
  `---\n${JSON.stringify({ apiVersion: "networking.istio.io/v1", kind, metadata: { namespace, name }, spec })}\n`;

const http = (number: number) => ({ number, name: `p${number}`, protocol: "HTTP", targetPort: 9080 });

const WORLD = object("WorkloadEntry", "app-1", { address: "10.9.0.2", labels: { app: "client" } }, "client") +
  entry("wide", ["*.ex.test"], "10.9.1.4", [http(9091), { number: 9092, name: "any", targetPort: 9080 }], {
    addresses: ["10.8.0.9"],
  }) +
  entry("front", ["front.test"], "10.9.1.5", [http(9091)]) +
  entry("shop", ["shop.test"], "10.9.1.6", [http(8000)]);

const rules = (host: string, destination: object, more: object = {}) =>
  object("VirtualService", "rules", { hosts: [host], http: [{ route: [{ destination }], ...more }] });

const ask = (yaml: string, question: Parameters<typeof explained>[2] | string, settings: WaySettings = {}) =>
  wayOf(yaml, "client/app-1", question, settings);

const found = (yaml: string) => checked(yaml).map(({ code, message }) => `${code} ${message}`);

Deno.test("a destination under a wildcard service leads to the service's cluster, and is not reported as missing", async () => {
  const yaml = WORLD + rules("front.test", { host: "www.ex.test", port: { number: 9091 } });
  assert.equal(await ask(yaml, "http://front.test:9091/"), "*.ex.test:9091 > 10.9.1.4:9080");
  assert.deepEqual(found(yaml), []);
});

Deno.test("so do its subsets, which are those of the wildcard's rule; a rule for the name alone is said to act on nothing", async () => {
  const destination = { host: "www.ex.test", subset: "v1", port: { number: 9091 } };
  const subsets = (host: string) =>
    object("DestinationRule", "subsets", { host, subsets: [{ name: "v1", labels: { version: "v1" } }] });
  const wide = WORLD + rules("front.test", destination) + subsets("*.ex.test");
  assert.equal(await ask(wide, "http://front.test:9091/"), "v1 of *.ex.test:9091 > 10.9.1.4:9080");
  assert.deepEqual(found(wide), []);
  const named = WORLD + rules("front.test", destination) + subsets("www.ex.test");
  assert.equal(await ask(named, "http://front.test:9091/"), "v1 of *.ex.test:9091 > 503");
  assert.deepEqual(checked(named).map(({ name }) => name).sort(), ["rule-without-clusters", "unknown-subset"]);
});

Deno.test("a name under no wildcard, and one under a wildcard without the port, are found and answered 503", async () => {
  const outside = WORLD + rules("front.test", { host: "www.other.test", port: { number: 9091 } });
  assert.equal(await ask(outside, "http://front.test:9091/"), "www.other.test:9091 > 503");
  assert.deepEqual(checked(outside).map(({ name }) => name), ["unknown-host"]);
  const port = WORLD + rules("front.test", { host: "www.ex.test", port: { number: 1 } });
  assert.equal(await ask(port, "http://front.test:9091/"), "*.ex.test:1 > 503");
  assert.deepEqual(checked(port).map(({ name }) => name), ["unknown-port"]);
});

Deno.test("a Sidecar that imports the route alone brings the wildcard's cluster with it", async () => {
  const sidecar = object("Sidecar", "narrow", { egress: [{ hosts: ["prod/front.test"] }] }, "client");
  const yaml = WORLD + sidecar + rules("front.test", { host: "www.ex.test", port: { number: 9091 } });
  assert.equal(await ask(yaml, "http://front.test:9091/"), "*.ex.test:9091 > 10.9.1.4:9080");
});

Deno.test("a gateway that gets only the clusters of its routes gets the wildcard's clusters, and the clusters behind an alias", async () => {
  const gateway = object("Gateway", "door", {
    selector: { app: "door" },
    servers: [{ port: { number: 8080, name: "http", protocol: "HTTP" }, hosts: ["*"] }],
  }) + object("WorkloadEntry", "door-1", { address: "10.9.0.3", labels: { app: "door" } });
  const route = object("VirtualService", "rules", {
    hosts: ["front.test"],
    gateways: ["door"],
    http: [{ route: [{ destination: { host: "www.ex.test", port: { number: 9091 } } }] }],
  });
  const settings = { PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: true };
  const way = await wayOf(WORLD + gateway + route, "router~10.9.0.3~door-1.prod~prod.svc.cluster.local", {
    to: "http://front.test:8080/",
  }, settings);
  assert.equal(way, "*.ex.test:9091 > 10.9.1.4:9080");
});

for (const port of [9091, 9092]) {
  const kind = port === 9091 ? "an HTTP port" : "a port whose protocol is recognized";
  Deno.test(`rules of a host under a wildcard service hold on ${kind} of it, and for that host alone`, async () => {
    const yaml = WORLD + rules("www.ex.test", { host: "shop.test", port: { number: 8000 } });
    assert.equal(await ask(yaml, `http://www.ex.test:${port}/`), "shop.test:8000 > 10.9.1.6:9080");
    assert.equal(await ask(yaml, `http://other.ex.test:${port}/`), `*.ex.test:${port} > 10.9.1.4:9080`);
    assert.deepEqual(found(yaml), []);
  });
}

Deno.test("a narrower wildcard's rules go before a wider one's, on the ports of the wildcard service", async () => {
  const narrow = rules("*.in.ex.test", { host: "shop.test", port: { number: 8000 } });
  const wide = object("VirtualService", "wide", {
    hosts: ["*.ex.test"],
    http: [{ route: [{ destination: { host: "front.test" } }] }],
  });
  assert.equal(await ask(WORLD + narrow + wide, "http://a.in.ex.test:9091/"), "shop.test:8000 > 10.9.1.6:9080");
  assert.equal(await ask(WORLD + narrow + wide, "http://a.ex.test:9091/"), "front.test:9091 > 10.9.1.5:9080");
});

Deno.test("with dynamic DNS the host that the rule names is dialled, whatever host the request is for", () => {
  const dynamic = object("ServiceEntry", "dynamic", {
    hosts: ["*.dyn.test"],
    location: "MESH_EXTERNAL",
    resolution: "DYNAMIC_DNS",
    ports: [{ number: 8081, name: "http", protocol: "HTTP" }],
  });
  const yaml = WORLD + dynamic + rules("front.test", { host: "a.dyn.test", port: { number: 8081 } });
  const { routes = [] } = resourcesOf(yaml, "client/app-1", ["rds"]);
  const text = JSON.stringify(routes.find(({ name }) => name === "9091"));
  assert.match(text, /"outbound\|8081\|\|\*\.dyn\.test"/);
  assert.match(
    text,
    /"envoy\.upstream\.dynamic_host","format_string":\{"text_format_source":\{"inline_string":"a\.dyn\.test"/,
  );
});

const BYTES = object("ServiceEntry", "bytes", {
  hosts: ["bytes.test"],
  addresses: ["10.8.0.7"],
  resolution: "STATIC",
  ports: [{ number: 7000, name: "tcp", protocol: "TCP" }],
  endpoints: [{ address: "10.9.1.7" }],
}) + entry("raw", ["*.raw.test"], "10.9.1.8", [{ number: 7001, name: "tcp", protocol: "TCP" }], {
  addresses: ["10.8.0.6"],
});

Deno.test("rules for connections lead to a host under a wildcard, and hold for a host under one by its server name", async () => {
  const tcp = object("VirtualService", "bytes", {
    hosts: ["bytes.test"],
    tcp: [{ route: [{ destination: { host: "one.raw.test" } }] }],
  });
  assert.equal(await ask(WORLD + BYTES + tcp, "tcp://bytes.test:7000"), "*.raw.test:7001 > 10.9.1.8:7001");
  assert.deepEqual(found(WORLD + BYTES + tcp), []);
  const secure = entry("secure", ["*.tls.test"], "10.9.1.8", [{ number: 8443, name: "tls", protocol: "TLS" }], {
    addresses: ["10.8.0.8"],
  });
  const tls = object("VirtualService", "tls", {
    hosts: ["one.tls.test"],
    tls: [{
      match: [{ sniHosts: ["one.tls.test"] }],
      route: [{ destination: { host: "one.raw.test" } }],
    }],
  });
  const asked = (name: string) => ask(WORLD + BYTES + secure + tls, `tls://${name}:8443`);
  assert.equal(await asked("one.tls.test"), "*.raw.test:7001 > 10.9.1.8:7001");
  assert.equal(await asked("two.tls.test"), "*.tls.test:8443 > 10.9.1.8:8443");
  assert.deepEqual(found(WORLD + BYTES + secure + tls), []);
});

Deno.test("rules for bytes of a host under a wildcard, which nothing in the connection names, are said to be nowhere", () => {
  const tcp = object("VirtualService", "raw", {
    hosts: ["one.raw.test"],
    tcp: [{ route: [{ destination: { host: "front.test" } }] }],
  });
  assert.deepEqual(checked(WORLD + BYTES + tcp).map(({ name }) => name), ["reaches-no-proxy"]);
});

const PROVIDER = (service: string, port: number) => `
extensionProviders:
- { name: asked, envoyExtAuthzGrpc: { service: "${service}", port: ${port} } }
- { name: logs, envoyOtelAls: { service: "${service}", port: ${port} } }
- { name: spans, opentelemetry: { service: "${service}", port: ${port} } }
`;

const USES = object("AuthorizationPolicy", "asked", { action: "CUSTOM", provider: { name: "asked" }, rules: [{}] })
  .replace("networking.istio.io/v1", "security.istio.io/v1") +
  object("Telemetry", "logs", {
    accessLogging: [{ providers: [{ name: "logs" }] }],
    tracing: [{ providers: [{ name: "spans" }], randomSamplingPercentage: 100 }],
  }).replace("networking.istio.io/v1", "telemetry.istio.io/v1") +
  entry("served", ["served.test"], "10.9.1.9", [http(8000)]) +
  object("WorkloadEntry", "served-1", { address: "10.9.1.9", labels: { app: "served" } });

/** The listeners of a server, and the findings, when providers are at a service. */
function withProviders(yaml: string, service: string, port: number) {
  const mesh = meshOf({ "mesh.yaml": yaml }, { meshConfig: PROVIDER(service, port) });
  const { proxies, options } = proxiesOf(mesh);
  const { node } = findProxy("prod/served-1", proxies, options).proxy;
  const listeners = JSON.stringify(resourcesJson(mesh.join(node), ["lds"]));
  const { findings } = unpaced(checkMesh(mesh, { assumeServices: false, textOf: () => yaml }));
  return { listeners, findings: findings.map(({ name }) => name) };
}

Deno.test("providers whose host is under a wildcard are served by its cluster, and get the name that is written", () => {
  const { listeners, findings } = withProviders(WORLD + USES, "asks.ex.test", 9091);
  const service = '"envoy_grpc":{"cluster_name":"outbound|9091||*.ex.test","authority":"asks.ex.test"}';
  assert.equal(listeners.includes(service), true);
  assert.deepEqual(findings, []);
});

Deno.test("a provider that a client's request would name is not asked: requests are refused, and it is found", () => {
  const dynamic = object("ServiceEntry", "dynamic", {
    hosts: ["*.dyn.test"],
    location: "MESH_EXTERNAL",
    resolution: "DYNAMIC_DNS",
    ports: [{ number: 8081, name: "http", protocol: "HTTP" }],
  });
  for (const host of ["asks.dyn.test", "*.dyn.test"]) {
    const { listeners, findings } = withProviders(WORLD + dynamic + USES, host, 8081);
    assert.doesNotMatch(listeners, /outbound\|8081\|\|\*\.dyn\.test/);
    assert.match(listeners, /"envoy\.filters\.http\.rbac"/, "all are refused");
    const ofUses = findings.filter((name) => name !== "wrong-value");
    assert.deepEqual([...new Set(ofUses)], ["unusable-authorizer", "unusable-telemetry-provider"]);
  }
});

Deno.test("connections for which no server is named are explained as closed, as they are found", async () => {
  const dynamic = object("ServiceEntry", "dynamic", {
    hosts: ["*.dyn.test"],
    location: "MESH_EXTERNAL",
    resolution: "DYNAMIC_DNS",
    ports: [{ number: 8443, name: "tls", protocol: "TLS" }],
  });
  const rule = (...hosts: string[]) => {
    const route = hosts.map((host) => ({ destination: { host, port: { number: 8443 } }, weight: 1 }));
    return WORLD + BYTES + dynamic + object("VirtualService", "bytes", { hosts: ["bytes.test"], tcp: [{ route }] });
  };
  const asked = (yaml: string) => ask(yaml, "tcp://bytes.test:7000");
  const named = (yaml: string) => checked(yaml).map(({ name }) => name);
  assert.equal(await asked(rule("a.dyn.test")), "*.dyn.test:8443 > forwarded");
  assert.deepEqual(named(rule("a.dyn.test")), []);
  for (const unnamed of [rule("*.dyn.test"), rule("a.dyn.test", "b.dyn.test")]) {
    assert.equal(await asked(unnamed), "*.dyn.test:8443 > closed");
    assert.deepEqual(named(unnamed), ["server-without-name"]);
  }
});
