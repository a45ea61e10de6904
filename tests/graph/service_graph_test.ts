/** The graph of a mesh: callers, visibility, routes and entrances. */
import assert from "node:assert/strict";
import { edgesOf, object, policy, service, SHOP } from "./world.ts";

Deno.test("a shop by namespace, and each namespace opened", () => {
  assert.deepEqual(edgesOf(SHOP), [
    "call anyone -> namespace edge: allowed",
    "call anyone -> namespace shop: allowed",
    "call namespace bank -> namespace bank: allowed",
    "call namespace shop -> namespace bank: conditional; if methods",
    "call namespace shop -> namespace shop: allowed",
    "entrance gateway edge/public -> namespace shop: allowed; 100 %",
    "route namespace shop -> namespace shop: allowed; v1 90 %, v2 10 %",
  ]);
  assert.deepEqual(edgesOf(SHOP, "bank"), [
    "call identity bank/payments -> service bank/ledger.bank: allowed",
    "call namespace shop -> service bank/payments.bank: conditional; if methods",
  ]);
  assert.deepEqual(edgesOf(SHOP, "shop"), [
    "call anyone -> service shop/front.shop: allowed",
    "call anyone -> service shop/reviews.shop: allowed",
    "call identity shop/checkout -> namespace bank: conditional; if methods",
    "call namespace shop -> service shop/checkout.shop: allowed",
    "entrance gateway edge/public -> service shop/front.shop: allowed; 100 %",
    "route service shop/reviews.shop -> service shop/reviews.shop: allowed; v1 90 %, v2 10 %",
  ]);
});

Deno.test("a policy against the gateway's identity closes the entrance", () => {
  const closed = policy("front", "shop", "rules: [{ from: [{ source: { namespaces: [shop] } }] }]", "front");
  const entrances = (texts: readonly string[]) => edgesOf(texts).filter((edge) => edge.startsWith("entrance"));
  assert.deepEqual(entrances([...SHOP, closed]), ["entrance gateway edge/public -> namespace shop: denied; 100 %"]);
  const open = policy("front", "shop", "rules: [{ from: [{ source: { serviceAccounts: [edge/ingress] } }] }]", "front");
  assert.deepEqual(entrances([...SHOP, open]), ["entrance gateway edge/public -> namespace shop: allowed; 100 %"]);
});

Deno.test("exportTo and Sidecars decide which namespaces an edge is for", () => {
  const world = [service("a", "x"), service("b", "y"), service("c", "z")];
  const toB = (...more: readonly string[]) =>
    edgesOf([...world, ...more], "y").filter((edge) => edge.includes("-> service y/b.y"));
  const own = world[1]!.replace("  location", "  exportTo: [x]\n  location");
  assert.deepEqual(edgesOf([world[0]!, own, world[2]!], "y"), ["call namespace x -> service y/b.y: allowed"]);
  const sidecar = (namespace: string, hosts: string) =>
    object("Sidecar", "default", namespace, `{ egress: [{ hosts: [${hosts}] }] }`);
  assert.deepEqual(toB(sidecar("z", '"./*"')), ["call anyone -> service y/b.y: allowed; but z"]);
  assert.deepEqual(toB(sidecar("x", '"./*"'), sidecar("z", '"./*"')), ["call namespace y -> service y/b.y: allowed"]);
  assert.deepEqual(toB(sidecar("z", '"y/*"')), ["call anyone -> service y/b.y: allowed"]);
  // A policy names a namespace that does not see the service.
  const named = policy("p", "y", "rules: [{ from: [{ source: { namespaces: [x, z] } }] }]");
  assert.deepEqual(toB(sidecar("z", '"./*"'), named), [
    "call namespace x -> service y/b.y: allowed",
    "call namespace z -> service y/b.y: hidden",
  ]);
});

Deno.test("routes lead from hosts to their destinations, for some requests or all, and hidden rules lead nowhere", () => {
  const world = [service("a", "x"), service("b", "x"), service("c", "x")];
  const rule = (name: string, spec: string) => object("VirtualService", name, "x", spec);
  const routes = (...more: readonly string[]) =>
    edgesOf([...world, ...more], "x").filter((edge) => edge.startsWith("route"));
  const split = `{ hosts: [a.x], http: [
    { match: [{ uri: { prefix: /new } }], route: [{ destination: { host: c.x } }] },
    { route: [{ destination: { host: a.x }, weight: 1 }, { destination: { host: b.x }, weight: 2 }] }] }`;
  const expected = [
    "route service x/a.x -> service x/a.x: allowed; 33.3 %",
    "route service x/a.x -> service x/b.x: allowed; 66.7 %",
    "route service x/a.x -> service x/c.x: conditional; if match of the route; 100 %",
  ];
  assert.deepEqual(routes(rule("r", split)), expected);
  const hidden = rule("z", "{ hosts: [a.x], http: [{ route: [{ destination: { host: c.x } }] }] }");
  assert.deepEqual(routes(rule("r", split), hidden), expected);
  assert.deepEqual(
    routes(rule("a", "{ hosts: [virtual.x], http: [{ route: [{ destination: { host: gone.x } }] }] }")),
    [],
  );
  assert.deepEqual(
    routes(rule("a", "{ hosts: [virtual.x], http: [{ route: [{ destination: { host: a.x } }] }] }")),
    ["route host virtual.x -> service x/a.x: allowed; 100 %"],
  );
});

Deno.test("a caller named by a policy stays when any other policy is removed", () => {
  const without = SHOP.filter((text) => !text.includes("name: payments, namespace: bank, annotations"));
  assert.equal(without.length, SHOP.length - 1);
  assert.deepEqual(edgesOf(without, "bank"), [
    "call anyone -> service bank/payments.bank: allowed",
    "call identity bank/payments -> service bank/ledger.bank: allowed",
  ]);
});

Deno.test("a waypoint is the entrance: its policies judge callers, and workloads see the waypoint as the caller", () => {
  const gateway = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: door, namespace: y }
spec:
  gatewayClassName: mesh-waypoint
  listeners: [{ name: mesh, port: 15008, protocol: HBONE }]
`;
  const behind = service("b", "y").replace("namespace: y", "namespace: y, labels: { mesh.io/use-waypoint: door }");
  const world = [service("a", "x"), behind, gateway];
  const target = "targetRefs: [{ group: networking.mesh.io, kind: ServiceEntry, name: b }]";
  const allow = policy("p", "y", `${target}, rules: [{ from: [{ source: { namespaces: [x] } }] }]`);
  const entrance = "entrance waypoint y/door -> service y/b.y: allowed";
  assert.deepEqual(edgesOf(world, "y"), ["call anyone -> service y/b.y: allowed", entrance]);
  assert.deepEqual(edgesOf([...world, allow], "y"), ["call namespace x -> service y/b.y: allowed", entrance]);
  // The policy of the workloads names the caller, but the workloads see the waypoint, whose identity is not known.
  const own = policy("own", "y", "rules: [{ from: [{ source: { namespaces: [x] } }] }]", "b");
  assert.deepEqual(edgesOf([...world, allow, own], "y"), [
    "call namespace x -> service y/b.y: conditional; if identity of the waypoint",
    entrance,
  ]);
});
