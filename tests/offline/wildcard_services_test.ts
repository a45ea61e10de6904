/** A host under a wildcard service: what a reference to it leads to, and what is said of it, are decided by one function. */
import assert from "node:assert/strict";
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

Deno.test("a destination under a wildcard service leads to the service's cluster, and is said to exist", async () => {
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

Deno.test("a gateway that gets the clusters of its routes alone gets the wildcard's, and those behind an alias", async () => {
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
