/** What users of other namespaces cannot reach through legal objects, and what their objects cost others. */
import assert from "node:assert/strict";
import { joinedShadowed, type MatchPlace, type ShadowedMatch } from "../../lib/gateway_api/derive/shadowed.ts";
import type { Manifest } from "./attach_world.ts";
import { apiObject, DerivationWorld, plainService } from "./derivation_world.ts";

const HTTP = { name: "http", port: 80, protocol: "HTTP", allowedRoutes: { namespaces: { from: "All" } } };

/** Gateway `shop/edge`, which takes ListenerSets of all namespaces. */
const EDGE = apiObject("Gateway", "edge", {
  gatewayClassName: "mesh",
  allowedListeners: { namespaces: { from: "All" } },
  listeners: [HTTP],
});

const TO_A = [{ backendRefs: [{ name: "a", port: 80 }] }];

function route(name: string, spec: object, namespace = "shop"): Manifest {
  return apiObject(
    "HTTPRoute",
    name,
    { parentRefs: [{ name: "edge", namespace: "shop" }], rules: TO_A, ...spec },
    namespace,
  );
}

function set(gateway: string, port: number, more: object = {}): Manifest {
  const parentRef = { name: gateway, namespace: "shop" };
  return apiObject("ListenerSet", "set", { parentRef, listeners: [{ ...HTTP, name: "l", port }] }, "far", more);
}

Deno.test("a ListenerSet of another Gateway judges no route again", () => {
  const world = new DerivationWorld(plainService("a"), EDGE, route("web", { hostnames: ["web.example"] }));
  const [before] = world.verdicts.route("HTTPRoute/shop/web");
  assert.equal(before?.places.length, 1);
  world.put(set("another", 81));
  world.put(set("another", 82));
  const [after] = world.verdicts.route("HTTPRoute/shop/web");
  assert.equal(after === before, true);
});

Deno.test("another ListenerSet of a Gateway makes the rules of a host once, not again", () => {
  const world = new DerivationWorld(plainService("a"), EDGE, route("web", { hostnames: ["web.example"] }));
  const before = world.routes().get("web.example");
  world.put(set("edge", 81));
  assert.equal(world.verdicts.gateway("ApiGateway/shop/edge")?.view.listeners.length, 2);
  assert.equal(before !== undefined && world.routes().get("web.example") === before, true);
});

Deno.test("a changed ListenerSet makes nothing again for the listeners of other sets", () => {
  const other = apiObject(
    "ListenerSet",
    "other",
    {
      parentRef: { name: "edge" },
      listeners: [{ ...HTTP, name: "l", port: 90 }, { name: "taken", port: 81, protocol: "TCP" }],
    },
    "shop",
    {},
  );
  const world = new DerivationWorld(EDGE, set("edge", 80, {}), other);
  const all = () => new Map(world.store.list("Gateway").map((one) => [one.spec.servers?.[0]?.port.number, one]));
  const before = all();
  assert.deepEqual([...before.keys()].sort(), [80, 81, 90]);
  // The older set takes the port of a listener of the other set. That listener is judged anew.
  world.put(apiObject("ListenerSet", "set", {
    parentRef: { name: "edge", namespace: "shop" },
    listeners: [{ ...HTTP, name: "l", port: 81 }],
  }, "far"));
  const after = all();
  const servers = [...after.values()].map(({ spec }) =>
    `${spec.servers?.[0]?.port.protocol} ${spec.servers?.[0]?.port.number}`
  );
  assert.deepEqual(servers.sort(), ["HTTP 80", "HTTP 81", "HTTP 90"]);
  assert.equal(after.get(90) === before.get(90) && before.get(90) !== undefined, true);
});

Deno.test("a route stays at a ListenerSet whose status is written while the route changes", () => {
  const at = { parentRefs: [{ kind: "ListenerSet", name: "set", namespace: "far" }] };
  const world = new DerivationWorld(plainService("a"), EDGE, set("edge", 81), route("web", at));
  world.put(set("edge", 81, { status: { conditions: [] } }));
  world.put(route("web", { ...at, hostnames: ["new.example"] }));
  assert.deepEqual([...world.routes().keys()], ["new.example"]);
  world.put(set("edge", 82));
  assert.deepEqual(world.verdicts.route("HTTPRoute/shop/web").map(({ places }) => places.length), [1]);
  world.remove("ListenerSet/far/set");
  assert.deepEqual([...world.routes().keys()], []);
});

Deno.test("the host name of another namespace's Service needs the grant of the Service", () => {
  const name = "vault.bank.svc.cluster.local";
  const backendRefs = [{ group: "networking.mesh.io", kind: "Hostname", name, port: 80 }];
  const world = new DerivationWorld(plainService("vault", "bank"), EDGE, route("web", { rules: [{ backendRefs }] }));
  const reason = () => world.verdicts.route("HTTPRoute/shop/web")[0]?.resolved.resolvedRefs.reason;
  const destinations = () => world.routes().get("*")?.spec.http?.flatMap((rule) => rule.route ?? []) ?? [];
  assert.deepEqual([reason(), destinations()], ["RefNotPermitted", []]);
  const from = [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "shop" }];
  const grant = apiObject("ReferenceGrant", "g", { from, to: [{ group: "", kind: "Service" }] }, "bank");
  world.put({ ...grant, apiVersion: "gateway.networking.k8s.io/v1beta1" });
  assert.deepEqual([reason(), destinations().map((one) => one.destination.host)], ["ResolvedRefs", [name]]);
  world.remove("ReferenceGrant/bank/g");
  assert.deepEqual([reason(), destinations()], ["RefNotPermitted", []]);
});

/** A ServiceEntry `far/entry`, and a route of its namespace for its clients. */
function entryWithRoute(hosts: readonly string[], exportTo?: readonly string[]): Manifest[] {
  const spec = { hosts, ports: [{ number: 80, name: "http", protocol: "HTTP" }], ...(exportTo && { exportTo }) };
  const metadata = { name: "entry", namespace: "far" };
  const parentRefs = [{ group: "networking.istio.io", kind: "ServiceEntry", name: "entry" }];
  return [
    plainService("a", "far"),
    { apiVersion: "networking.istio.io/v1", kind: "ServiceEntry", metadata, spec },
    route("web", { parentRefs }, "far"),
  ];
}

Deno.test("a route at a ServiceEntry decides nothing about Services of other namespaces", () => {
  const others = ["vault.bank.svc.cluster.local", "*.bank.svc.cluster.local", "*.svc.cluster.local", "*.local"];
  const own = ["a.far.svc.cluster.local", "out.example.com", "*.example.com"];
  const mixed = new DerivationWorld(...entryWithRoute([...others, ...own]));
  // A wider host has the narrower hosts too.
  assert.deepEqual([...mixed.routes().keys()], ["a.far.svc.cluster.local *.example.com"]);
  const foreign = new DerivationWorld(...entryWithRoute(others));
  const [judged] = foreign.verdicts.route("HTTPRoute/far/web");
  assert.deepEqual([foreign.routes().size, judged?.at[0]?.accepted.reason], [0, "NoMatchingParent"]);
});

Deno.test("a route at a ServiceEntry reaches the clients that may see the ServiceEntry, no others", () => {
  const exported = (exportTo?: readonly string[]) =>
    new DerivationWorld(...entryWithRoute(["out.example.com"], exportTo)).routes().get("out.example.com")?.spec
      .exportTo;
  assert.deepEqual([exported(["."]), exported(["near", "."]), exported()], [["."], ["near", "."], ["*"]]);
});

Deno.test("the shadowed matches of many hosts are joined in time that grows with their number", () => {
  const place = (name: string, match: number): MatchPlace => ({
    ...{ kind: "HTTPRoute", namespace: "shop", name, rule: 0, match },
  });
  const pairs = Array.from({ length: 8 }, (_, match) => ({ match: place("late", match), winner: place("old", match) }));
  const ofHost = (host: number): ShadowedMatch[] => pairs.map((pair) => ({ ...pair, hosts: [`h${host}.example`] }));
  const hosts = 10_000;
  const lists = Array.from({ length: hosts }, (_, host) => ofHost(host));
  const start = performance.now();
  const joined = joinedShadowed(lists).get("HTTPRoute/shop/late") ?? [];
  const taken = performance.now() - start;
  assert.deepEqual(joined.map((one) => one.hosts.length), pairs.map(() => hosts));
  // With the square of the number, half a minute.
  assert.ok(taken < 5_000, `${taken} ms`);
});
