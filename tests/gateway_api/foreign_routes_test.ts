/**
 * Routes at a service whose host a service of another namespace has too: the rules are for clients that get the host from
 * the namespace of the route's service alone.
 */
import assert from "node:assert/strict";
import { explained, wayOf, type WaySettings } from "../offline/way.ts";
import { Fixture, type TestNode, texts } from "../discovery/fixture.ts";
import { FOR_SERVICE_OF } from "../mesh/for_service.ts";
import { api, document } from "./folder_world.ts";

const HOST = "api.stripe.com";

const PORTS = [
  { number: 80, name: "http", protocol: "HTTP" },
  { number: 81, name: "grpc", protocol: "GRPC" },
  { number: 443, name: "tls", protocol: "TLS" },
  { number: 9000, name: "tcp", protocol: "TCP" },
];

/** A ServiceEntry with one endpoint. */
function entry(namespace: string, name: string, host: string, endpoint: string, more: object = {}): string {
  const location = "MESH_EXTERNAL";
  return document({
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name, namespace },
    spec: { hosts: [host], location, resolution: "STATIC", ports: PORTS, endpoints: [{ address: endpoint }], ...more },
  });
}

const stripe = (namespace: string, endpoint: string, more: object = {}, host = HOST) =>
  entry(namespace, "stripe", host, endpoint, more);

const KINDS = { HTTPRoute: 80, GRPCRoute: 81, TLSRoute: 443, TCPRoute: 9000 };
type RouteKind = keyof typeof KINDS;

/** A route of a namespace at a port of ServiceEntry `stripe`, to service `catcher` of the route's namespace. */
function route(kind: RouteKind, namespace: string, { parent = namespace, port = KINDS[kind] } = {}): string {
  return api(kind, `at-${port}-of-${parent}`, {
    parentRefs: [{ group: "networking.mesh.io", kind: "ServiceEntry", name: "stripe", namespace: parent, port }],
    ...kind === "TLSRoute" ? { hostnames: [HOST] } : {},
    rules: [{ backendRefs: [{ name: "catcher", port: KINDS[kind] }] }],
  }, { namespace });
}

const catcher = (namespace: string, endpoint = "10.6.6.7") =>
  entry(namespace, "catcher", `catcher.${namespace}.svc.cluster.local`, endpoint);

/** A route of each kind. */
function routes(namespace: string, parent = namespace): string {
  return (Object.keys(KINDS) as RouteKind[]).map((kind) => route(kind, namespace, { parent })).join("");
}

const EVIL = stripe("evil", "10.6.6.6") + routes("evil") + catcher("evil");
const OWN = stripe("shop", "10.0.0.1");

/** Endpoints that a client reaches under a host: by HTTP, gRPC, TLS and TCP. */
async function ends(text: string, namespace: string, settings: WaySettings = {}, host = HOST): Promise<string[]> {
  const found: string[] = [];
  const from = `sidecar~10.0.2.1~c.${namespace}~${namespace}.svc.cluster.local`;
  for (const to of [`http://${host}/`, `http://${host}:81/`, `tls://${host}:443`, `tcp://${host}:9000`]) {
    found.push((await wayOf(text, from, to, settings)).split(" > ")[1] ?? "");
  }
  return found;
}

const at = (address: string) => [80, 81, 443, 9000].map((port) => `${address}:${port}`);

Deno.test("routes at a foreign ServiceEntry do not decide for clients with a ServiceEntry of their own for the host", async () => {
  const world = EVIL + OWN;
  assert.deepEqual(await ends(world, "shop"), at("10.0.0.1"));
  assert.deepEqual(await ends(world, "evil"), at("10.6.6.7"), "clients of the route's service");
  const consumed = world + routes("shop", "evil") + catcher("shop", "10.0.0.2");
  assert.deepEqual(
    await ends(consumed, "shop"),
    at("10.0.0.1"),
    "a consumer's route at a service that it does not use",
  );
});

Deno.test("routes at a ServiceEntry do not decide for clients that get the host of another foreign ServiceEntry", async () => {
  const old = stripe("shop", "10.0.0.1").replace(
    '"metadata":{',
    '"metadata":{"creationTimestamp":"2020-01-01T00:00:00Z",',
  );
  const young = EVIL.replaceAll('"metadata":{', '"metadata":{"creationTimestamp":"2024-01-01T00:00:00Z",');
  assert.deepEqual(await ends(young + old, "client"), at("10.0.0.1"));
  assert.deepEqual(await ends(young, "client"), at("10.6.6.7"));
  const consumed = young + old + routes("client", "shop") + catcher("client", "10.0.0.2");
  assert.deepEqual(await ends(consumed, "client"), at("10.0.0.2"), "a consumer's route at the service of the client");
});

Deno.test("routes at a ServiceEntry with a wildcard do not decide for clients with a service of a host under the wildcard", async () => {
  const evil = stripe("evil", "10.6.6.6", {}, "*.stripe.com") + routes("evil") + catcher("evil");
  // Connections without names at a shared address are of one of the two services, with and without routes.
  assert.deepEqual((await ends(evil + OWN, "shop")).slice(0, 3), at("10.0.0.1").slice(0, 3));
  assert.equal((await ends(evil + OWN, "shop", {}, "pay.stripe.com"))[0], "10.6.6.7:80");
  assert.equal((await ends(evil, "shop"))[2], "10.6.6.7:443", "nobody else has the server name");
});

Deno.test("routes at a Service do not decide for clients whose own ServiceEntry has the Service's host", async () => {
  const host = "stripe.shop.svc.cluster.local";
  const service = stripe("shop", "10.0.0.1", {}, host) + catcher("shop", "10.0.0.2") +
    route("HTTPRoute", "shop").replace('networking.mesh.io","kind":"ServiceEntry', '","kind":"Service');
  const world = service + stripe("zoo", "10.0.0.9", {}, host);
  assert.equal((await ends(world, "shop", {}, host))[0], "10.0.0.2:80");
  assert.equal((await ends(world, "client", {}, host))[0], "10.0.0.2:80");
  assert.equal((await ends(world, "zoo", {}, host))[0], "10.0.0.9:80");
});

Deno.test("a Sidecar that imports the own ServiceEntry alone keeps the routes of the other out, and the other way round", async () => {
  const only = (namespace: string) =>
    document({
      apiVersion: "networking.mesh.io/v1",
      kind: "Sidecar",
      metadata: { name: "default", namespace: "client" },
      spec: { egress: [{ hosts: [`${namespace}/${HOST}`] }] },
    });
  assert.deepEqual(await ends(EVIL + OWN + only("shop"), "client"), at("10.0.0.1"));
  assert.deepEqual(await ends(EVIL + OWN + only("evil"), "client"), at("10.6.6.7"));
});

Deno.test("listeners at the addresses of services follow the same rule", async () => {
  const own = stripe("shop", "10.0.0.1", { addresses: ["10.96.0.1"] });
  const evil = stripe("evil", "10.6.6.6", { addresses: ["10.96.0.1"] }) + routes("evil") + catcher("evil");
  const byAddress = { MESH_HTTP_BY_ADDRESS: true };
  assert.deepEqual(await ends(evil + own, "shop", byAddress, "10.96.0.1"), at("10.0.0.1"));
  const [http, grpc, , tcp] = await ends(evil + own, "evil", byAddress, "10.96.0.1");
  assert.deepEqual([http, grpc, tcp], ["10.6.6.7:80", "10.6.6.7:81", "10.6.6.7:9000"]);
});

Deno.test("server names of a route mean no service of others at addresses that services share", async () => {
  const server = async (text: string) => (await ends(text, "shop"))[2];
  for (const addresses of [[], ["0.0.0.0/0"]]) {
    const evil = stripe("evil", "10.6.6.6", { addresses }, "a.evil.test") + route("TLSRoute", "evil") + catcher("evil");
    assert.equal(await server(OWN + evil), "10.0.0.1:443", `addresses ${addresses}`);
  }
  const other = stripe("evil", "10.6.6.6", {}, "a.evil.test") + catcher("evil");
  const unnamed = await server(other);
  assert.equal(await server(other + route("TLSRoute", "evil")), unnamed, "nobody's service has the name");
  assert.equal(await server(other + route("TCPRoute", "evil", { port: 443 })), unnamed);
});

Deno.test("a TCPRoute at a TLS port takes the connections that name the ServiceEntry", async () => {
  const world = stripe("evil", "10.6.6.6") + route("TCPRoute", "evil", { port: 443 }) + catcher("evil");
  assert.equal((await ends(world, "shop"))[2], "10.6.6.7:9000");
});

Deno.test("explain names the routes that are for clients of another namespace's service", async () => {
  const { notes } = await explained(EVIL + OWN, "sidecar~10.0.2.1~c.shop~shop.svc.cluster.local", {
    to: `http://${HOST}/`,
  });
  assert.match(
    notes.join("\n"),
    /has rules for api\.stripe\.com of namespace evil, and the client gets the host from ServiceEntry\/shop/,
  );
});

/** A library in a workload of a namespace. */
function library(namespace: string, address: string): TestNode {
  return { namespace, address, labels: {}, delta: false, metadata: { GENERATOR: { stringValue: "grpc" } } };
}

Deno.test("libraries without a proxy follow the same rule, also while the ServiceEntry of their namespace comes and goes", () => {
  const fixture = new Fixture();
  const object = (kind: string, namespace: string, name: string, spec: object, annotations = {}) => ({
    apiVersion: "networking.mesh.io/v1",
    ...{ kind, metadata: { namespace, name, annotations }, spec },
  });
  const own = (namespace: string) =>
    object("ServiceEntry", namespace, "stripe", {
      ...{ hosts: [HOST], resolution: "STATIC", ports: PORTS, endpoints: [{ address: "10.6.6.6" }] },
    });
  const http = [{ match: [{ uri: { prefix: "/marked" } }], route: [{ destination: { host: HOST } }] }];
  const rules = object("VirtualService", "evil", "made", { hosts: [HOST], http }, { [FOR_SERVICE_OF]: "evil" });
  fixture.put(own("evil"), rules);
  fixture.pipeline.flush();
  const ruled = (client: string) => {
    fixture.pipeline.flush();
    return JSON.stringify(texts(clients[client]!)).includes("marked");
  };
  const clients: Record<string, ReturnType<Fixture["join"]>> = {
    shop: fixture.join(library("shop", "10.1.0.1")),
    evil: fixture.join(library("evil", "10.1.0.2")),
  };
  assert.deepEqual([ruled("shop"), ruled("evil")], [true, true]);
  fixture.put(own("shop"));
  assert.deepEqual([ruled("shop"), ruled("evil")], [false, true]);
  fixture.remove("ServiceEntry/shop/stripe");
  assert.deepEqual([ruled("shop"), ruled("evil")], [true, true]);
});
