/** Patches of route configurations, virtual hosts and routes. */
import assert from "node:assert/strict";
import type { envoy } from "../../proto/gen/types.ts";
import type { PatchedRoutes } from "../../lib/patches/route_match.ts";
import { patchesOfRoutes, patchRouteConfiguration } from "../../lib/patches/routes.ts";
import { patchesOf, type WrittenPatch } from "./patches.ts";

type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;

const route = (name: string, action: object = { route: { cluster: name } }) => ({
  name,
  match: { prefix: "/" },
  ...action,
});
const OUTBOUND: PatchedRoutes = { context: "SIDECAR_OUTBOUND", name: "80" };

function patched(of: PatchedRoutes, routes: RouteConfiguration, ...written: readonly WrittenPatch[]) {
  return patchRouteConfiguration(routes, patchesOfRoutes(patchesOf(...written), of), () => {});
}

const world = (): RouteConfiguration => ({
  name: "80",
  virtual_hosts: [
    { name: "v", domains: ["v.com"], routes: [route("a"), route("b", { redirect: {} }), route("a")] },
    { name: "w", domains: ["w.com", "w"], routes: [route("w", { direct_response: { status: 200 } })] },
  ],
});

/** Virtual hosts with the names of their routes: `v: a b a`. */
const shown = ({ virtual_hosts = [] }: RouteConfiguration) =>
  virtual_hosts.map(({ name, routes = [] }) => `${name}: ${routes.map((one) => one.name).join(" ")}`);

const ofRoutes = (operation: string, vhost?: object, value: object = route("new")): WrittenPatch => ({
  applyTo: "HTTP_ROUTE",
  ...(vhost ? { match: { routeConfiguration: { vhost } } } : {}),
  patch: { operation, ...(operation === "REMOVE" ? {} : { value }) },
});

Deno.test("where routes come, by operation and by whether the patch names one", () => {
  const v = (name?: string, action?: string) => ({
    name: "v",
    ...(name || action ? { route: { ...(name ? { name } : {}), ...(action ? { action } : {}) } } : {}),
  });
  const cases: readonly (readonly [string, object, string])[] = [
    ["ADD", v(), "a b a new"],
    ["ADD", v("b"), "a b a new"],
    ["INSERT_FIRST", v(), "new a b a"],
    ["INSERT_FIRST", v("b"), "new a b a"],
    ["INSERT_FIRST", v("c"), "a b a"],
    ["INSERT_BEFORE", v("b"), "a new b a"],
    ["INSERT_BEFORE", v("c"), "a b a"],
    ["INSERT_BEFORE", v(), "new a b a"],
    ["INSERT_AFTER", v("a"), "a new b a"],
    ["INSERT_AFTER", v(), "a b a new"],
    ["INSERT_AFTER", v(undefined, "REDIRECT"), "a b new a"],
    ["REMOVE", v("a"), "b"],
    ["REMOVE", v(undefined, "ROUTE"), "b"],
    ["REMOVE", v(undefined, "ANY"), ""],
    ["REMOVE", v(), ""],
    ["REPLACE", v("a"), "a b a"],
  ];
  for (const [operation, vhost, expected] of cases) {
    const { routes } = patched(OUTBOUND, world(), ofRoutes(operation, vhost));
    assert.deepEqual(shown(routes), [`v: ${expected}`, "w: w"], `${operation} ${JSON.stringify(vhost)}`);
  }
});

Deno.test("a merge reaches every route that fits, by name and by action", () => {
  const hit = (vhost?: object) => {
    const merge = ofRoutes("MERGE", vhost, { response_headers_to_remove: ["x"] });
    const { routes } = patched(OUTBOUND, world(), merge);
    return routes.virtual_hosts!.flatMap(({ routes = [] }) =>
      routes.map((one) => one.response_headers_to_remove === undefined ? "-" : one.name)
    ).join(" ");
  };
  assert.equal(hit(), "a b a w");
  assert.equal(hit({ name: "v", route: { name: "a" } }), "a - a -");
  assert.equal(hit({ route: { action: "DIRECT_RESPONSE" } }), "- - - w");
  assert.equal(hit({ domainName: "w.com" }), "- - - w");
  assert.equal(hit({ domainName: "x.com" }), "- - - -");
});

const ofHosts = (operation: string, vhost?: object, value?: object): WrittenPatch => ({
  applyTo: "VIRTUAL_HOST",
  ...(vhost ? { match: { routeConfiguration: { vhost } } } : {}),
  patch: { operation, ...(value ? { value } : {}) },
});

Deno.test("a virtual host that is replaced has its routes patched, and keeps its name", () => {
  const value = {
    name: "z",
    domains: ["z.com"],
    routes: [{ name: "z", match: { prefix: "/" }, route: { cluster: "c" } }],
  };
  const { routes } = patched(
    OUTBOUND,
    world(),
    ofHosts("REPLACE", { name: "v" }, value),
    ofRoutes("ADD", { name: "z" }),
  );
  assert.deepEqual(shown(routes), ["v: z new", "w: w"]);
  assert.deepEqual(routes.virtual_hosts?.[0]?.domains, ["z.com"]);
});

Deno.test("a virtual host that is removed takes an added one of its name with it; an added one is not patched", () => {
  const add = (name: string) => ofHosts("ADD", undefined, { name, domains: [name] });
  const removed = patched(OUTBOUND, world(), add("v"), add("x"), ofHosts("REMOVE", { name: "v" }), ofRoutes("ADD"));
  assert.deepEqual(shown(removed.routes), ["w: w new"]);
  assert.deepEqual(removed.added.map(({ value }) => value), [{ name: "x", domains: ["x"] }]);
});

Deno.test("of a route configuration itself only merges count; what nothing matches stays the same object", () => {
  const configuration = (operation: string): WrittenPatch => ({
    applyTo: "ROUTE_CONFIGURATION",
    patch: { operation, ...(operation === "REMOVE" ? {} : { value: { name: "80", internal_only_headers: ["x"] } }) },
    match: { routeConfiguration: { name: "80" } },
  });
  const before = world();
  for (const operation of ["ADD", "REPLACE", "REMOVE", "INSERT_FIRST"]) {
    assert.equal(patched(OUTBOUND, before, configuration(operation)).routes, before, operation);
  }
  assert.equal(
    patched(OUTBOUND, before, ofHosts("REMOVE", { name: "z" }), ofRoutes("REMOVE", { name: "z" })).routes,
    before,
  );
  assert.deepEqual(patched(OUTBOUND, before, configuration("MERGE")).routes.internal_only_headers, ["x"]);
});

Deno.test("which route configurations a patch is for", () => {
  const gateway = (name: string, servicePorts?: readonly number[]): PatchedRoutes => ({
    context: "GATEWAY",
    name,
    ...(servicePorts ? { servicePorts } : {}),
  });
  const sidecar = (name: string, context: PatchedRoutes["context"] = "SIDECAR_OUTBOUND") => ({ name, context });
  const https = "https.443.web.door.shop";
  const cases: readonly (readonly [PatchedRoutes, object, boolean])[] = [
    [sidecar("80"), {}, true],
    [sidecar("80"), { portNumber: 80 }, true],
    [sidecar("80"), { portNumber: 81 }, false],
    [sidecar("80"), { name: "80" }, true],
    [sidecar("80"), { name: "81" }, false],
    [sidecar("80"), { gateway: "shop/door" }, true],
    [sidecar("a.com:80"), { portNumber: 80 }, false],
    [sidecar("inbound|80||", "SIDECAR_INBOUND"), { portNumber: 80 }, true],
    [sidecar("inbound|80||", "SIDECAR_INBOUND"), { portNumber: 8080 }, false],
    [gateway("http.8080"), { portNumber: 8080 }, true],
    [gateway("http.8080", [80]), { portNumber: 80 }, true],
    [gateway("http.8080", [80]), { portNumber: 8080 }, false],
    [gateway("http.8080"), { gateway: "shop/door" }, false],
    [gateway(https), { gateway: "shop/door", portName: "web", portNumber: 443, name: https }, true],
    [gateway(https), { portName: "other" }, false],
    [gateway(https), { gateway: "other/door" }, false],
  ];
  for (const [of, routeConfiguration, expected] of cases) {
    const patch = { ...ofRoutes("ADD"), match: { routeConfiguration } };
    const { length } = patchesOfRoutes(patchesOf(patch), of);
    assert.equal(length > 0, expected, JSON.stringify([of, routeConfiguration]));
  }
});
