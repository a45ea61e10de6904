/** HTTPRoutes and GRPCRoutes with common hostnames at a listener: one kind is accepted. */
import assert from "node:assert/strict";
import { apiObject, DerivationWorld, plainService } from "./derivation_world.ts";

interface Given {
  readonly kind: "HTTPRoute" | "GRPCRoute";
  readonly name: string;
  readonly hostnames?: readonly string[];
  /** Smaller is older. */
  readonly age?: number;
  readonly section?: string;
  readonly namespace?: string;
}

function route({ kind, name, hostnames = [], age = 0, section, namespace = "shop" }: Given) {
  const parentRefs = [{ name: "edge", namespace: "shop", ...(section && { sectionName: section }) }];
  const creationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, age)).toISOString();
  const spec = { parentRefs, hostnames, rules: [{ backendRefs: [{ name: "a", port: 80 }] }] };
  return { ...apiObject(kind, name, spec, namespace), metadata: { name, namespace, creationTimestamp } };
}

const allowedRoutes = { namespaces: { from: "All" } };
const GATEWAY = apiObject("Gateway", "edge", {
  gatewayClassName: "mesh",
  listeners: [
    { name: "one", port: 80, protocol: "HTTP", allowedRoutes },
    { name: "two", port: 81, protocol: "HTTP", allowedRoutes, hostname: "*.example.org" },
  ],
});

/** For each route: the reason of Accepted, and the names of its listeners. */
function judged(...given: readonly Given[]): Record<string, string> {
  const world = new DerivationWorld(GATEWAY, plainService("a"), plainService("a", "pay"), ...given.map(route));
  return Object.fromEntries(given.map(({ kind, name, namespace = "shop" }) => {
    const [{ at: [at], places }] = world.verdicts.route(`${kind}/${namespace}/${name}`) as [
      ReturnType<typeof world.verdicts.route>[number],
    ];
    assert.deepEqual(
      places.map(({ listener }) => listener.spec.name),
      at!.bound.map(({ listener }) => listener.spec.name),
    );
    return [name, [at!.accepted.reason, ...at!.bound.map(({ listener }) => listener.spec.name)].join(" ")];
  }));
}

const http = (name: string, more: Partial<Given> = {}): Given => ({ kind: "HTTPRoute", name, section: "one", ...more });
const grpc = (name: string, more: Partial<Given> = {}): Given => ({ ...http(name, more), kind: "GRPCRoute" });

Deno.test("the older route keeps the hostname, then the first by namespace and name, whatever the kinds", () => {
  assert.deepEqual(judged(http("h", { age: 2 }), grpc("g", { age: 1 })), { h: "HostnameConflict", g: "Accepted one" });
  assert.deepEqual(judged(http("h", { age: 1 }), grpc("g", { age: 2 })), { h: "Accepted one", g: "HostnameConflict" });
  assert.deepEqual(judged(http("b"), grpc("c")), { b: "Accepted one", c: "HostnameConflict" });
  assert.deepEqual(judged(http("b"), grpc("z", { namespace: "pay" })), { b: "HostnameConflict", z: "Accepted one" });
});

Deno.test("hostnames conflict where some host has both; a refused route keeps nobody out; routes of one kind are merged", () => {
  const at = (...hostnames: readonly string[]) => ({ hostnames });
  assert.deepEqual(
    judged(
      http("a", at("*.example.com")),
      grpc("b", at("x.y.example.com", "other.test")),
      grpc("c", at("example.com")),
      http("d", at("other.test")),
      http("e", at("*.example.com")),
      grpc("f"),
      grpc("g", at("*.com")),
    ),
    {
      ...{ a: "Accepted one", b: "HostnameConflict", c: "Accepted one", d: "Accepted one", e: "Accepted one" },
      ...{ f: "HostnameConflict", g: "HostnameConflict" },
    },
  );
});

Deno.test("a route is refused at the listener with the conflict alone, and a listener's hostname limits conflicts", () => {
  const anywhere = { kind: "GRPCRoute", name: "g", age: 1 } as const;
  assert.deepEqual(judged(http("h"), anywhere), { h: "Accepted one", g: "Accepted two" });
  const far = http("h", { section: "two", hostnames: ["a.example.org", "b.test"] });
  assert.deepEqual(judged(far, grpc("g", { section: "two", hostnames: ["b.example.org", "b.test"] })), {
    ...{ h: "Accepted two", g: "Accepted two" },
  });
});

Deno.test("a route is accepted again when its rival goes, and the message names no route of another namespace", () => {
  const world = new DerivationWorld(GATEWAY, plainService("a"), route(http("h")), route(grpc("g", { age: 1 })));
  const accepted = () => world.verdicts.route("GRPCRoute/shop/g")[0]!.at[0]!.accepted;
  assert.match(accepted().message, /HTTPRoute shop\/h is first/);
  world.remove("HTTPRoute/shop/h");
  assert.equal(accepted().status, "True");
  world.put(route(http("secret", { namespace: "pay", age: -1 })));
  assert.match(accepted().message, /one of another namespace is first/);
  assert.ok(!accepted().message.includes("secret"));
});

Deno.test("an InferencePool is not accepted at a Gateway that refuses its HTTPRoutes for a GRPCRoute, in any order of events", () => {
  const pool = {
    apiVersion: "inference.networking.k8s.io/v1",
    kind: "InferencePool",
    metadata: { name: "models", namespace: "shop" },
    spec: {
      selector: { matchLabels: { app: "models" } },
      targetPorts: [{ number: 8000 }],
      endpointPickerRef: { name: "a", port: { number: 80 } },
    },
  };
  const toPool = (name: string, hostname: string) => ({
    ...route(http(name, { age: 2, hostnames: [hostname] })),
    spec: {
      parentRefs: [{ name: "edge", sectionName: "one" }],
      hostnames: [hostname],
      rules: [{ backendRefs: [{ group: "inference.networking.k8s.io", kind: "InferencePool", name: "models" }] }],
    },
  });
  const world = new DerivationWorld(GATEWAY, plainService("a"), pool, toPool("h", "a.example.com"));
  const reported: string[] = [];
  world.verdicts.onChange((keys) => reported.push(...keys));
  const verdict = () =>
    world.verdicts.pool("InferencePool/shop/models")!.parents.map(({ accepted }) => accepted.reason);
  const after = (change: () => void) => {
    reported.length = 0;
    change();
    assert.ok(reported.includes("InferencePool/shop/models"), reported.join());
    return verdict();
  };
  const rival = route(grpc("g", { age: 1, hostnames: ["a.example.com"] }));
  assert.deepEqual(verdict(), ["Accepted"]);
  assert.deepEqual(after(() => world.put(rival)), ["HTTPRouteNotAccepted"]);
  assert.deepEqual(after(() => world.put(toPool("other", "b.example.com"))), ["Accepted"], "one route is enough");
  assert.deepEqual(after(() => world.remove("HTTPRoute/shop/other")), ["HTTPRouteNotAccepted"]);
  assert.deepEqual(after(() => world.remove("GRPCRoute/shop/g")), ["Accepted"]);
});
