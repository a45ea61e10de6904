import assert from "node:assert/strict";
import { isolatedHostnames, misdirectedHosts, needsOwnHost } from "../../lib/gateway_api/attach/isolation.ts";
import { byPrecedence } from "../../lib/gateway_api/attach/precedence.ts";
import type { ListenerView, RouteKind } from "../../lib/gateway_api/attach/types.ts";
import { AttachWorld, boundLines, word } from "./attach_world.ts";

const API = "apiVersion: gateway.networking.k8s.io/v1\n";

function gateway(name: string, listeners: string, more = ""): string {
  return `${API}kind: Gateway\nmetadata: {name: ${name}}\n` +
    `spec: {gatewayClassName: mesh, listeners: [${listeners}]${more}}\n---\n`;
}

/** A route. @param spec Fields after parentRefs, in flow form. */
function route(kind: RouteKind, name: string, parents: string, spec = "", namespace = "infra"): string {
  const rules = kind === "HTTPRoute" || kind === "GRPCRoute" ? "" : ", rules: [{backendRefs: [{name: a, port: 80}]}]";
  return `${API}kind: ${kind}\nmetadata: {name: ${name}, namespace: ${namespace}}\n` +
    `spec: {parentRefs: [${parents}]${spec === "" ? "" : `, ${spec}`}${rules}}\n---\n`;
}

/** The verdict and the bound listeners at the only parent of a route. */
function only(world: AttachWorld, kind: RouteKind, name: string, namespace = "infra") {
  const [found, ...others] = world.attachments(world.route(kind, name, namespace));
  assert.ok(found !== undefined && others.length === 0);
  return [word(found.accepted), ...boundLines(found)];
}

Deno.test("hostnames of routes and listeners meet by labels", () => {
  const gw = gateway(
    "gw",
    `{name: exact, port: 80, protocol: HTTP, hostname: very.specific.com},
     {name: wild, port: 80, protocol: HTTP, hostname: "*.wildcard.io"},
     {name: deep, port: 80, protocol: HTTP, hostname: "*.a.deep.io"}`,
  ) + gateway("open", "{name: any, port: 80, protocol: HTTP}");
  const cases: Readonly<Record<string, readonly [hostnames: string, ...expected: string[]]>> = {
    exact: ["non.matching.com, very.specific.com", "Accepted", "exact: very.specific.com"],
    "below-wildcard": [
      "wildcard.io, foo.wildcard.io, foo.bar.wildcard.io, xwildcard.io",
      ...["Accepted", "wild: foo.wildcard.io foo.bar.wildcard.io"],
    ],
    "wild-over-exact": ['"*.specific.com"', "Accepted", "exact: very.specific.com"],
    "same-wildcards": ['"*.wildcard.io"', "Accepted", "wild: *.wildcard.io"],
    "wider-than-listener": ['"*.deep.io"', "Accepted", "deep: *.a.deep.io"],
    "narrower-than-listener": ['"*.b.a.deep.io"', "Accepted", "deep: *.b.a.deep.io"],
    none: ["specific.but.wrong.com, wildcard.io", "not NoMatchingListenerHostname"],
  };
  for (const [name, [hostnames, ...expected]] of Object.entries(cases)) {
    const world = new AttachWorld(gw + route("HTTPRoute", name, "{name: gw}", `hostnames: [${hostnames}]`));
    assert.deepEqual(only(world, "HTTPRoute", name), expected, name);
  }
  const world = new AttachWorld(
    gw + route("HTTPRoute", "all", "{name: gw}") + route("HTTPRoute", "open", "{name: open}") +
      route("HTTPRoute", "open-named", "{name: open}", 'hostnames: [a.com, "*.b.com"]'),
  );
  assert.deepEqual(only(world, "HTTPRoute", "all"), [
    ...["Accepted", "exact: very.specific.com", "wild: *.wildcard.io", "deep: *.a.deep.io"],
  ]);
  assert.deepEqual(only(world, "HTTPRoute", "open"), ["Accepted", "any: *"]);
  assert.deepEqual(only(world, "HTTPRoute", "open-named"), ["Accepted", "any: a.com *.b.com"]);
});

Deno.test("sectionName and port choose listeners of the parent", () => {
  const gw = gateway("gw", "{name: a, port: 80, protocol: HTTP}, {name: b, port: 8080, protocol: HTTP}");
  const cases: Readonly<Record<string, readonly string[]>> = {
    "{name: gw}": ["Accepted", "a: *", "b: *"],
    "{name: gw, sectionName: b}": ["Accepted", "b: *"],
    "{name: gw, port: 80}": ["Accepted", "a: *"],
    "{name: gw, port: 80, sectionName: a}": ["Accepted", "a: *"],
    "{name: gw, port: 80, sectionName: b}": ["not NoMatchingParent"],
    "{name: gw, port: 81}": ["not NoMatchingParent"],
    "{name: gw, sectionName: c}": ["not NoMatchingParent"],
  };
  for (const [parent, expected] of Object.entries(cases)) {
    assert.deepEqual(only(new AttachWorld(gw + route("HTTPRoute", "r", parent)), "HTTPRoute", "r"), expected, parent);
  }
});

Deno.test("a route of a kind that no listener carries is not allowed", () => {
  const gw = gateway(
    "gw",
    `{name: http, port: 80, protocol: HTTP, hostname: a.com},
     {name: tls, port: 443, protocol: TLS, tls: {mode: Passthrough}, hostname: b.com},
     {name: tcp, port: 90, protocol: TCP}, {name: udp, port: 90, protocol: UDP},
     {name: only-grpc, port: 81, protocol: HTTP, allowedRoutes: {kinds: [{kind: GRPCRoute}]}}`,
  );
  const at = (kind: RouteKind, section: string) => {
    const spec = kind === "TLSRoute" ? "hostnames: [b.com]" : "";
    const world = new AttachWorld(gw + route(kind, "r", `{name: gw, sectionName: ${section}}`, spec));
    return only(world, kind, "r")[0];
  };
  const kinds: readonly RouteKind[] = ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"];
  const allowed = ["http", "tls", "tcp", "udp", "only-grpc"].map((section) =>
    `${section}: ${kinds.filter((kind) => at(kind, section) === "Accepted").join(" ")}`
  );
  assert.deepEqual(allowed, [
    ...["http: HTTPRoute GRPCRoute", "tls: TLSRoute", "tcp: TCPRoute", "udp: UDPRoute", "only-grpc: GRPCRoute"],
  ]);
  assert.equal(at("TCPRoute", "http"), "not NotAllowedByListeners");
});

Deno.test("allowedRoutes chooses namespaces of routes", () => {
  const facts = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: web, mesh.io/x: y}}\n---\n";
  const rules: Readonly<Record<string, readonly [infra: string, shop: string]>> = {
    "{}": ["Accepted", "not NotAllowedByListeners"],
    "{namespaces: {from: Same}}": ["Accepted", "not NotAllowedByListeners"],
    "{namespaces: {from: All}}": ["Accepted", "Accepted"],
    "{namespaces: {from: Selector}}": ["not NotAllowedByListeners", "not NotAllowedByListeners"],
    "{namespaces: {from: Selector, selector: {matchLabels: {team: web}}}}": ["not NotAllowedByListeners", "Accepted"],
    "{namespaces: {from: Selector, selector: {matchLabels: {istio.io/x: y}}}}": [
      "not NotAllowedByListeners",
      "Accepted",
    ],
    "{namespaces: {from: Selector, selector: {matchExpressions: [{key: team, operator: NotIn, values: [web]}]}}}": [
      "Accepted",
      "not NotAllowedByListeners",
    ],
    "{namespaces: {from: Selector, selector: {matchExpressions: [{key: team, operator: Exists}]}}}": [
      "not NotAllowedByListeners",
      "Accepted",
    ],
    "{namespaces: {from: Selector, selector: {matchExpressions: [{key: team, operator: In, values: []}]}}}": [
      "not NotAllowedByListeners",
      "not NotAllowedByListeners",
    ],
    "{namespaces: {from: Selector, selector: {matchLabels: {kubernetes.io/metadata.name: infra}}}}": [
      "Accepted",
      "not NotAllowedByListeners",
    ],
  };
  for (const [rule, expected] of Object.entries(rules)) {
    const world = new AttachWorld(
      facts + gateway("gw", `{name: a, port: 80, protocol: HTTP, allowedRoutes: ${rule}}`) +
        route("HTTPRoute", "r", "{name: gw}") + route("HTTPRoute", "r", "{name: gw, namespace: infra}", "", "shop"),
    );
    assert.deepEqual([only(world, "HTTPRoute", "r")[0], only(world, "HTTPRoute", "r", "shop")[0]], expected, rule);
  }
});

Deno.test("a parent that is not ours, or does not exist, gets no entry; equal parents get one", () => {
  const world = new AttachWorld(
    gateway("gw", "{name: a, port: 80, protocol: HTTP}") +
      `${API}kind: Gateway\nmetadata: {name: foreign}\nspec: {gatewayClassName: x, listeners: [{name: a, port: 80, protocol: HTTP}]}\n---\n` +
      route(
        "HTTPRoute",
        "r",
        "{name: foreign}, {name: gone}, {name: gw}, {name: gw, namespace: infra}, {name: x, kind: Other}, " +
          "{name: gw, sectionName: a}",
      ),
  );
  assert.deepEqual(world.attachments(world.route("HTTPRoute", "r")).map(({ index }) => index), [2, 5]);
});

Deno.test("a listener that serves nothing still takes routes", () => {
  const world = new AttachWorld(
    gateway("gw", "{name: a, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: gone}]}}") +
      route("HTTPRoute", "r", "{name: gw}"),
  );
  assert.deepEqual(only(world, "HTTPRoute", "r"), ["Accepted", "a: *"]);
});

const SET = `${API}kind: ListenerSet\nmetadata: {name: set}\n` +
  "spec: {parentRef: {name: gw}, listeners: [{name: of-set, port: 80, protocol: HTTP, hostname: set.com}]}\n---\n";

Deno.test("a ListenerSet's listeners take the routes that name the set", () => {
  const own = "{name: own, port: 80, protocol: HTTP, hostname: own.com}";
  const allows = ", allowedListeners: {namespaces: {from: Same}}";
  const routes = route("HTTPRoute", "at-set", "{name: set, kind: ListenerSet}") +
    route("HTTPRoute", "at-gateway", "{name: gw}") +
    route("HTTPRoute", "section", "{name: gw, sectionName: of-set}") +
    route("HTTPRoute", "both", "{name: gw}, {name: set, kind: ListenerSet, sectionName: of-set}");
  const world = new AttachWorld(gateway("gw", own, allows) + SET + routes);
  assert.deepEqual(only(world, "HTTPRoute", "at-set"), ["Accepted", "of-set: set.com"]);
  assert.deepEqual(only(world, "HTTPRoute", "at-gateway"), ["Accepted", "own: own.com"]);
  assert.deepEqual(only(world, "HTTPRoute", "section"), ["not NoMatchingParent"]);
  assert.deepEqual(world.attachments(world.route("HTTPRoute", "both")).map(boundLines), [
    ["own: own.com"],
    ["of-set: set.com"],
  ]);
  const refused = new AttachWorld(gateway("gw", own) + SET + routes);
  assert.deepEqual(only(refused, "HTTPRoute", "at-set"), ["not NoMatchingParent"]);
});

Deno.test("a more specific listener takes its hostnames from a wider listener of the port", () => {
  const world = new AttachWorld(
    gateway(
      "gw",
      `{name: any, port: 80, protocol: HTTP},
       {name: wild, port: 80, protocol: HTTP, hostname: "*.example.com"},
       {name: deep, port: 80, protocol: HTTP, hostname: "*.foo.example.com"},
       {name: exact, port: 80, protocol: HTTP, hostname: abc.foo.example.com},
       {name: other-port, port: 81, protocol: HTTP, hostname: "*.bar.com"},
       {name: other-protocol, port: 80, protocol: HTTPS, hostname: "*.baz.com", tls: {certificateRefs: [{name: x}]}}`,
    ),
  );
  const view = world.view("gw");
  const left = (name: string, ...hostnames: string[]) =>
    isolatedHostnames(view.listeners.find(({ spec }) => spec.name === name)!, hostnames, view);
  const all = ["*", "a.bar.com", "a.baz.com", "example.com", "*.com", "a.example.com", "*.example.com"];
  assert.deepEqual(left("any", ...all), ["*", "a.bar.com", "a.baz.com", "example.com", "*.com"]);
  assert.deepEqual(
    left("wild", "*.example.com", "a.example.com", "a.foo.example.com", "*.foo.example.com", "foo.example.com"),
    ["*.example.com", "a.example.com", "foo.example.com"],
  );
  assert.deepEqual(left("deep", "*.foo.example.com", "abc.foo.example.com"), ["*.foo.example.com"]);
  assert.deepEqual(view.listeners.filter((one) => needsOwnHost(one, view)).map(({ spec }) => spec.name), [
    ...["wild", "deep", "exact"],
  ]);
});

/** Serving listeners of one port by hostname. */
function listenersOf(protocol: string, ...hostnames: readonly (string | undefined)[]) {
  const listeners = hostnames.map((hostname) => ({
    ...{ protocol, serves: true, spec: { port: 443, ...(hostname && { hostname }) } },
  })) as unknown as ListenerView[];
  const of = (hostname?: string) => listeners.find(({ spec }) => spec.hostname === hostname)!;
  return { listeners, of };
}

Deno.test("requests for hostnames of other HTTPS listeners of the port are misdirected, the widest names stand for all", () => {
  const own = ["one.example", "*.wild.example", "*.in.wild.example", "x.in.wild.example"];
  const some = listenersOf("HTTPS", ...own);
  assert.deepEqual(misdirectedHosts(some.of("one.example"), some), ["*.wild.example"]);
  assert.deepEqual(misdirectedHosts(some.of("*.wild.example"), some), ["*.in.wild.example", "one.example"]);
  assert.deepEqual(misdirectedHosts(some.of("x.in.wild.example"), some), ["*.wild.example", "one.example"]);
  const all = listenersOf("HTTPS", undefined, ...own);
  assert.deepEqual(misdirectedHosts(all.of(undefined), all), ["*.wild.example", "one.example"]);
  assert.deepEqual(misdirectedHosts(all.of("one.example"), all), ["*"]);
  assert.deepEqual(misdirectedHosts(all.of("*.wild.example"), all), ["*", "*.in.wild.example"]);
  const plain = listenersOf("HTTP", ...own);
  assert.deepEqual(misdirectedHosts(plain.of("one.example"), plain), [], "plain connections have no server name");
});

Deno.test("with very many HTTPS listeners on a port every host but a listener's own is misdirected", () => {
  const many = listenersOf("HTTPS", ...Array.from({ length: 20_000 }, (_, i) => `h${i}.example`), "*.h0.example");
  for (const one of many.listeners) {
    assert.deepEqual(misdirectedHosts(one, many), ["*"]);
    assert.ok(needsOwnHost(one, many));
  }
});

Deno.test("routes come by age, then by namespace and name", () => {
  const at = (name: string, namespace: string, date: string) =>
    `${API}kind: HTTPRoute\nmetadata: {name: ${name}, namespace: ${namespace}${date}}\nspec: {}\n---\n`;
  const world = new AttachWorld(
    at("a", "shop", "") + at("b", "infra", "") + at("z", "zoo", ', creationTimestamp: "2026-01-01T00:00:00Z"') +
      at("c", "shop", ', creationTimestamp: "2026-01-02T00:00:00Z"'),
  );
  const order = world.routes().toSorted(byPrecedence).map(({ meta }) => `${meta.namespace}/${meta.name}`);
  assert.deepEqual(order, ["zoo/z", "shop/c", "infra/b", "shop/a"]);
});

const SERVICES = `
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: out, namespace: shop}
spec: {hosts: [a.out.com, b.out.com], ports: [{number: 443, name: tls, protocol: TLS}], resolution: DNS}
---
`;

Deno.test("a service takes routes of its namespace for all clients, and others for their own", () => {
  const parent = (more: string) => `{group: "", kind: Service, name: cart, namespace: shop${more}}`;
  const entry = "{group: networking.istio.io, kind: ServiceEntry, name: out, namespace: shop}";
  const world = new AttachWorld(
    SERVICES + route("HTTPRoute", "producer", parent(""), "", "shop") +
      route("GRPCRoute", "consumer", parent(", port: 80")) +
      route("TLSRoute", "entry", entry, "hostnames: [a.out.com]") +
      route("HTTPRoute", "port", parent(", port: 81")) + route("UDPRoute", "datagrams", parent("")) +
      route("HTTPRoute", "missing", '{group: "", kind: Service, name: gone}') +
      route("HTTPRoute", "section", parent(", sectionName: http")),
  );
  const at = (kind: RouteKind, name: string, namespace?: string) => {
    const [found] = world.attachments(world.route(kind, name, namespace));
    return [found && word(found.accepted), found?.mesh];
  };
  const host = "cart.shop.svc.cluster.local";
  assert.deepEqual(at("HTTPRoute", "producer", "shop"), ["Accepted", { hosts: [host] }]);
  assert.deepEqual(at("GRPCRoute", "consumer"), ["Accepted", { hosts: [host], port: 80, consumers: "infra" }]);
  assert.deepEqual(at("TLSRoute", "entry"), ["Accepted", { hosts: ["a.out.com", "b.out.com"], consumers: "infra" }]);
  assert.deepEqual(at("HTTPRoute", "port"), ["not NoMatchingParent", undefined]);
  assert.deepEqual(at("HTTPRoute", "section"), ["not NoMatchingParent", undefined]);
  assert.deepEqual(at("UDPRoute", "datagrams"), ["not NotAllowedByListeners", undefined]);
  const [missing] = world.attachments(world.route("HTTPRoute", "missing"));
  assert.equal(
    missing?.accepted.message,
    'parentRefs[0].name: "gone", expected a Service that exists (infra/gone does not)',
  );
});

Deno.test("a route costs its own reads, however many routes and listeners the Gateway has", () => {
  const listeners = Array.from(
    { length: 60 },
    (_, at) => `{name: l${at}, port: ${at + 1}, protocol: HTTPS, tls: {certificateRefs: [{name: s${at}}]}}`,
  );
  const world = new AttachWorld(gateway("gw", listeners.join(", ")));
  const trees = Array.from({ length: 5000 }, (_, at) => ({
    apiVersion: "gateway.networking.k8s.io/v1",
    ...{ kind: "HTTPRoute", metadata: { name: `r${at}`, namespace: "infra" } },
    spec: { parentRefs: [{ name: "gw", sectionName: `l${at % 60}` }] },
  }));
  world.putTrees(trees);
  const views = new Set(
    world.routes().map((route) => {
      const [found] = world.attachments(route);
      assert.equal(found?.bound.length, 1);
      return world.view("gw");
    }),
  );
  assert.equal(views.size, 1, "the view is made once");
  world.putTrees(trees.slice(7, 8));
  world.reads = 0;
  assert.equal(only(world, "HTTPRoute", "r7")[0], "Accepted");
  // The Gateway, and the reads of its kept view: class, sets, Service, and a Secret of each listener.
  assert.ok(world.reads <= 70, `${world.reads} reads`);
});
