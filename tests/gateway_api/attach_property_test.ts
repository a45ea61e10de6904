/**
 * Random Gateways, ListenerSets, routes and grants, judged by attachment and by a small model of the specification. The
 * model asks about single requests, and attachment answers with patterns: so the two share no method.
 */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { isolatedHostnames, needsOwnHost } from "../../lib/gateway_api/attach/isolation.ts";
import type { BoundListener, GatewayView, ListenerView } from "../../lib/gateway_api/attach/types.ts";
import { AttachWorld, type Manifest } from "./attach_world.ts";
import { runs } from "../properties.ts";

const RUNS = runs(300);
const API = "gateway.networking.k8s.io/v1";
/** Hosts of requests. */
const HOSTS = ["a.com", "x.a.com", "y.x.a.com", "b.com", "x.b.com", "com"];
const PATTERNS = [undefined, "a.com", "x.a.com", "*.a.com", "*.x.a.com", "*.com", "b.com"];
const NAMESPACES = ["infra", "shop"];

const listener = fc.record({
  port: fc.constantFrom(80, 81),
  protocol: fc.constantFrom("HTTP", "HTTP", "TLS", "TCP"),
  hostname: fc.constantFrom(...PATTERNS),
  from: fc.constantFrom("Same", "All", "Selector"),
  kinds: fc.constantFrom<readonly string[]>([], ["HTTPRoute"], ["GRPCRoute"]),
});

const set = fc.record({
  namespace: fc.constantFrom(...NAMESPACES),
  age: fc.nat(2),
  listeners: fc.array(listener, { minLength: 1, maxLength: 2 }),
});

const route = fc.record({
  kind: fc.constantFrom("HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute"),
  namespace: fc.constantFrom(...NAMESPACES),
  hostnames: fc.uniqueArray(fc.constantFrom(...PATTERNS.filter((one) => one !== undefined)), { maxLength: 2 }),
  parent: fc.constantFrom("gw", "set-0", "set-1", "gone"),
  section: fc.constantFrom(undefined, undefined, "l0", "l1"),
  port: fc.constantFrom(undefined, undefined, 80),
  backend: fc.constantFrom(...NAMESPACES),
});

const grant = fc.record({
  from: fc.constantFrom(...NAMESPACES),
  kind: fc.constantFrom("HTTPRoute", "TCPRoute"),
  namespace: fc.constantFrom(...NAMESPACES),
  name: fc.constantFrom(undefined, "web", "other"),
});

const world = fc.record({
  allowed: fc.constantFrom("None", "Same", "All"),
  own: fc.array(listener, { minLength: 1, maxLength: 4 }),
  sets: fc.array(set, { maxLength: 2 }),
  routes: fc.array(route, { minLength: 1, maxLength: 4 }),
  grants: fc.array(grant, { maxLength: 3 }),
});

type Listener = typeof listener extends fc.Arbitrary<infer T> ? T : never;
type Route = typeof route extends fc.Arbitrary<infer T> ? T : never;
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

function listenerTree({ port, protocol, hostname, from, kinds }: Listener, index: number) {
  const selector = from === "Selector" ? { selector: { matchLabels: { team: "web" } } } : {};
  return {
    ...{ name: `l${index}`, port, protocol },
    ...(protocol === "TLS" ? { tls: { mode: "Passthrough" } } : {}),
    ...(hostname !== undefined && protocol !== "TCP" ? { hostname } : {}),
    allowedRoutes: {
      namespaces: { from, ...selector },
      ...(kinds.length > 0 && protocol === "HTTP" ? { kinds: kinds.map((kind) => ({ kind })) } : {}),
    },
  };
}

function routeTree({ kind, namespace, hostnames, parent, section, port, backend }: Route, index: number): Manifest {
  const parentRef = {
    ...{ name: parent, namespace: parent === "set-1" ? "shop" : "infra" },
    ...(parent.startsWith("set") ? { kind: "ListenerSet" } : {}),
    ...(section === undefined ? {} : { sectionName: section }),
    ...(port === undefined ? {} : { port }),
  };
  const backendRefs = [{ name: "web", namespace: backend, port: 80 }];
  const spec = {
    ...{ parentRefs: [parentRef], rules: [{ backendRefs }] },
    ...(kind === "TCPRoute" || hostnames.length === 0 ? {} : { hostnames }),
  };
  return { apiVersion: API, kind, metadata: { name: `r${index}`, namespace }, spec };
}

/** The sets of a world, in their namespaces: the first in `infra`, the second in `shop`. */
function placedSets(one: World) {
  return one.sets.map((each, index) => ({ ...each, namespace: NAMESPACES[index]!, name: `set-${index}` }));
}

function build(one: World): AttachWorld {
  const built = new AttachWorld("");
  const service = (namespace: string): Manifest => ({
    ...{ apiVersion: "v1", kind: "Service", metadata: { name: "web", namespace } },
    spec: { ports: [{ port: 80 }] },
  });
  built.putTrees([
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { team: "web" } } },
    ...NAMESPACES.map(service),
    {
      ...{ apiVersion: API, kind: "Gateway", metadata: { name: "gw", namespace: "infra" } },
      spec: {
        gatewayClassName: "mesh",
        listeners: one.own.map(listenerTree),
        allowedListeners: { namespaces: { from: one.allowed } },
      },
    },
    ...placedSets(one).map(({ name, namespace, age, listeners }): Manifest => ({
      ...{ apiVersion: API, kind: "ListenerSet" },
      metadata: { name, namespace, creationTimestamp: `2026-01-0${age + 1}T00:00:00Z` },
      spec: { parentRef: { name: "gw", namespace: "infra" }, listeners: listeners.map(listenerTree) },
    })),
    ...one.routes.map(routeTree),
    ...one.grants.map(({ from, kind, namespace, name }, index): Manifest => ({
      ...{ apiVersion: "gateway.networking.k8s.io/v1beta1", kind: "ReferenceGrant" },
      metadata: { name: `g${index}`, namespace },
      spec: {
        from: [{ group: "gateway.networking.k8s.io", kind, namespace: from }],
        to: [{ group: "", kind: "Service", ...(name === undefined ? {} : { name }) }],
      },
    })),
  ]);
  return built;
}

/** The model: whether a pattern matches the host of a request, label by label. */
function matches(pattern: string | undefined, host: string): boolean {
  if (pattern === undefined || pattern === "*") return true;
  const [wanted, asked] = [pattern, host].map((text) => text.split(".").toReversed());
  if (wanted!.at(-1) !== "*") return pattern === host;
  return asked!.length >= wanted!.length && wanted!.slice(0, -1).every((label, at) => label === asked![at]);
}

/** The model's listeners: which of them win their place. */
interface ModelListener {
  readonly owner: string;
  readonly namespace: string;
  readonly name: string;
  readonly spec: Listener;
  readonly wins: boolean;
}

function modelListeners(one: World): ModelListener[] {
  const all: ModelListener[] = [];
  const add = (owner: string, namespace: string, listeners: readonly Listener[]) => {
    for (const [index, spec] of listeners.entries()) {
      const clash = all.some((other) => {
        if (!other.wins || other.spec.port !== spec.port) return false;
        if ((other.spec.protocol === "HTTP") !== (spec.protocol === "HTTP")) return true;
        if (other.spec.protocol === "TCP" || spec.protocol === "TCP") return true;
        return other.spec.hostname === spec.hostname;
      });
      all.push({ owner, namespace, name: `l${index}`, spec, wins: !clash });
    }
  };
  add("gw", "infra", one.own);
  const allowed = (namespace: string) => one.allowed === "All" || (one.allowed === "Same" && namespace === "infra");
  const order = placedSets(one).toSorted((a, b) => a.age - b.age || (a.namespace < b.namespace ? -1 : 1));
  for (const { name, namespace, listeners } of order) if (allowed(namespace)) add(name, namespace, listeners);
  return all;
}

/** The model: the listeners that a route attaches to. */
function modelBound(route: Route, listeners: readonly ModelListener[]): ModelListener[] {
  const carries: Readonly<Record<string, readonly string[]>> = {
    HTTP: ["HTTPRoute", "GRPCRoute"],
    TLS: ["TLSRoute"],
    TCP: ["TCPRoute"],
  };
  return listeners.filter(({ owner, namespace, name, spec }) =>
    owner === route.parent &&
    (route.section === undefined || route.section === name) &&
    (route.port === undefined || route.port === spec.port) &&
    carries[spec.protocol]!.includes(route.kind) &&
    (spec.kinds.length === 0 || spec.protocol !== "HTTP" || spec.kinds.includes(route.kind)) &&
    (spec.from === "All" || (spec.from === "Same" ? route.namespace === namespace : route.namespace === "shop"))
  );
}

/** Whether the model's route and listener both want a host. */
function wantsHost(route: Route, { spec }: ModelListener, host: string): boolean {
  if (spec.protocol === "TCP") return true;
  return matches(spec.hostname, host) &&
    (route.hostnames.length === 0 || route.hostnames.some((pattern) => matches(pattern, host)));
}

Deno.test("routes attach to the listeners and hosts of the specification", () => {
  fc.assert(
    fc.property(world, (one) => {
      const built = build(one);
      const listeners = modelListeners(one);
      for (const [index, route] of one.routes.entries()) {
        const [at] = built.attachments(built.route(route.kind as "HTTPRoute", `r${index}`, route.namespace));
        // Each host that the model's listener and route want is a host of a bound pattern, and no other host is.
        const expected = modelBound(route, listeners).map((found) => ({
          name: `${found.owner}/${found.name}`,
          hosts: HOSTS.filter((host) => wantsHost(route, found, host)),
        })).filter(({ hosts }) => hosts.length > 0);
        const actual = (at?.bound ?? []).map(({ listener, hostnames }) => ({
          name: `${listener.owner.meta.name}/${listener.spec.name}`,
          hosts: HOSTS.filter((host) => hostnames.some((pattern) => matches(pattern, host))),
        })).filter(({ hosts }) => hosts.length > 0);
        assert.deepEqual(actual, expected, `route ${index}`);
      }
    }),
    { numRuns: RUNS },
  );
});

Deno.test("of listeners that cannot be told apart the first serves", () => {
  fc.assert(
    fc.property(world, (one) => {
      const view = build(one).view("gw");
      const name = (owner: string, listener: string) => `${owner}/${listener}`;
      const served = view.listeners.filter(({ serves }) => serves).map((one) =>
        name(one.owner.meta.name, one.spec.name)
      );
      const won = modelListeners(one).filter(({ wins }) => wins).map((one) => name(one.owner, one.name));
      assert.deepEqual(served, won);
    }),
    { numRuns: RUNS },
  );
});

/** The listener whose host a proxy picks for a request: exact before the longest wildcard before any. */
function picked(view: GatewayView, bound: readonly BoundListener[], host: string, port: number) {
  const hosts = new Map<string, ListenerView>();
  for (const listener of view.listeners) {
    if (!listener.serves || listener.protocol !== "HTTP" || listener.spec.port !== port) continue;
    if (needsOwnHost(listener, view)) hosts.set(listener.spec.hostname ?? "*", listener);
    for (const { listener: of, hostnames } of bound) {
      if (of !== listener) continue;
      for (const hostname of isolatedHostnames(listener, hostnames, view)) hosts.set(hostname, listener);
    }
  }
  const matching = [...hosts.keys()].filter((pattern) => matches(pattern, host));
  const exact = matching.find((pattern) => pattern === host);
  const best = exact ?? matching.toSorted((a, b) => b.length - a.length)[0];
  return best === undefined ? undefined : hosts.get(best);
}

Deno.test("a request meets no route but those of its most specific listener", () => {
  fc.assert(
    fc.property(world, (one) => {
      const built = build(one);
      const view = built.view("gw");
      const bound = built.routes().flatMap((route) => built.attachments(route)).flatMap((at) => at.bound);
      for (const port of [80, 81]) {
        for (const host of HOSTS) {
          const owner = view.listeners.filter(({ serves, protocol, spec }) =>
            serves && protocol === "HTTP" && spec.port === port && matches(spec.hostname, host)
          ).toSorted((a, b) =>
            specificity(b) - specificity(a)
          )[0];
          const found = picked(view, bound, host, port);
          assert.ok(found === undefined || found === owner, `${host}:${port}`);
          const isWanted = bound.some(({ listener, hostnames }) =>
            listener === owner && hostnames.some((pattern) => matches(pattern, host))
          );
          assert.ok(!isWanted || found === owner, `${host}:${port} has a route`);
        }
      }
    }),
    { numRuns: RUNS },
  );
});

/** How specific a listener's hostname is: exact names, then wildcards with many labels. */
function specificity({ spec: { hostname } }: ListenerView): number {
  if (!hostname) return 0;
  return hostname.startsWith("*") ? hostname.split(".").length : 1000;
}

Deno.test("backends of other namespaces are reached with a grant alone", () => {
  fc.assert(
    fc.property(world, (one) => {
      const built = build(one);
      for (const [index, { kind, namespace, backend }] of one.routes.entries()) {
        const { rules } = built.resolve(built.route(kind as "HTTPRoute", `r${index}`, namespace));
        const isGranted = one.grants.some((grant) =>
          grant.namespace === backend && grant.from === namespace && grant.kind === kind &&
          (grant.name === undefined || grant.name === "web")
        );
        assert.equal(rules[0]!.backends[0]!.host !== undefined, namespace === backend || isGranted);
      }
    }),
    { numRuns: RUNS },
  );
});

Deno.test("a kept view is the view of a fresh start after any change", () => {
  fc.assert(
    fc.property(world, world, (before, after) => {
      const built = build(before);
      built.view("gw");
      const fresh = build({ ...before, sets: after.sets });
      for (const { key } of built.store.list("ListenerSet")) if (!fresh.store.at(key)) built.remove(key);
      built.putObjects(fresh.store.list("ListenerSet"));
      const shown = (view: GatewayView) =>
        view.listeners.map(({ owner, spec, serves, conflicted }) => [owner.key, spec.name, serves, conflicted]);
      assert.deepEqual(shown(built.view("gw")), shown(fresh.view("gw")));
    }),
    { numRuns: runs(100) },
  );
});
