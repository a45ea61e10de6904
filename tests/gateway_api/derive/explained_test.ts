/** Where a request goes by the rules of routes, and which rule is named behind each step. */
import assert from "node:assert/strict";
import type { ExplainWorld } from "../../../lib/offline/explain/world.ts";
import { explainedSteps } from "../../../lib/offline/explain/steps.ts";
import { explain } from "../../../lib/simulate/explain.ts";
import { simulate } from "../../../lib/simulate/simulate.ts";
import type { ProxyResources, Simulation } from "../../../lib/simulate/types.ts";
import { gatewayListeners } from "../../../lib/translate/gateway/listeners.ts";
import { gatewayRouteConfigurations } from "../../../lib/translate/gateway/routes.ts";
import { inFile } from "../../config/origins.ts";
import { resourcesOf } from "../../simulate/resources.ts";
import { meshReader } from "../../translate/mesh_reader.ts";
import { derivedObjects } from "./derived.ts";
import { hostOf, route, rules } from "./routes.ts";

const to = (name: string) => ({ name, port: 80 });
const path = (type: string, value: string) => ({ path: { type, value } });

const web = route([
  { matches: [path("PathPrefix", "/")], backendRefs: [to("web")] },
  { matches: [path("Exact", "/cart"), path("PathPrefix", "/carts")], backendRefs: [to("cart")] },
  {
    name: "moved",
    matches: [path("PathPrefix", "/old")],
    filters: [{
      type: "RequestRedirect",
      requestRedirect: { path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/" } },
    }],
  },
], { name: "web" });
const api = route([
  { matches: [{ ...path("PathPrefix", "/"), headers: [{ name: "x-api", value: "1" }] }], backendRefs: [to("api")] },
  { matches: [path("PathPrefix", "/gone")], backendRefs: [to("missing")] },
], { name: "api" });

/** The resources of a gateway with both routes. All clusters are missing: the tests ask for the way there. */
function gateway(): ProxyResources {
  const read = meshReader({
    properties: { type: "router", namespace: "edge", labels: { edge: "yes" } },
    objects: derivedObjects([rules(web), rules(api)], {}),
  });
  const routes = [...gatewayRouteConfigurations(read).values()].map(({ routeConfiguration, virtualHosts }) => ({
    ...routeConfiguration.message,
    virtual_hosts: virtualHosts.map(({ message }) => message),
  }));
  const listeners = gatewayListeners(read).listeners.map(({ message }) => message);
  return { ...resourcesOf({ listeners, routes }), causesOf: (kind) => kind === "virtualHosts" ? CAUSES : [] };
}

const CAUSES = ["Gateway/edge/gw-http", "VirtualService/edge/gw-http-shop", "HTTPRoute/shop/web", "HTTPRoute/shop/api"];

function ask(resources: ProxyResources, path: string, headers = {}): Simulation {
  return simulate(resources, {
    ...{ direction: "direct", destination: { ip: "10.0.0.1", port: 80 }, protocol: "http" },
    ...{ method: "GET", host: "shop.example.com", path, headers },
  });
}

const ways: [string, Record<string, string>, string][] = [
  ["/", {}, `outbound|80||${hostOf("web")}`],
  ["/cart", {}, `outbound|80||${hostOf("cart")}`],
  ["/cart/1", {}, `outbound|80||${hostOf("web")}`],
  ["/carts/1", {}, `outbound|80||${hostOf("cart")}`],
  ["/", { "x-api": "1" }, `outbound|80||${hostOf("api")}`],
  ["/cart", { "x-api": "1" }, `outbound|80||${hostOf("cart")}`],
  ["/old/1?q=1", {}, "302 http://shop.example.com/1?q=1"],
  ["/gone/1", { "x-api": "1" }, "500"],
];

Deno.test("requests go by the most specific match of both routes", () => {
  const resources = gateway();
  for (const [path, headers, expected] of ways) {
    const { steps, outcome } = ask(resources, path, headers);
    const [cluster] = steps.flatMap((step) => step.step === "cluster" ? [step.name] : []);
    const answer = outcome.kind === "answered" ? [outcome.status, outcome.location].filter(Boolean).join(" ") : "";
    assert.equal(cluster ?? answer, expected, `${path} ${JSON.stringify(headers)}`);
  }
});

/** The routes as objects of a file. */
const world: Pick<ExplainWorld, "object" | "place" | "resolver"> = {
  object: (key) => {
    const kind = key.split("/")[0] === "HTTPRoute" ? "HTTPRoute" : "VirtualService";
    const made = {
      from: "derived",
      source: "gateway-api",
      of: "HTTPRoute/shop/web",
      parent: inFile("a.yaml"),
    } as const;
    const origin = kind === "HTTPRoute" ? inFile("routes.yaml") : made;
    return { kind, spec: {}, origin } as ReturnType<ExplainWorld["object"]>;
  },
  place: (origin, field) => origin.from === "file" ? { file: `${origin.file} ${field}`, line: 1 } : undefined,
  resolver: { domain: "cluster.local" } as ExplainWorld["resolver"],
};

Deno.test("each step names the rule and match of its author's route, not the object made of the route", () => {
  const resources = gateway();
  const proxy = { ...{ type: "router", namespace: "edge", name: "gw", address: "", id: "" } as const, labels: {} };
  const steps = explainedSteps(ask(resources, "/carts/1"), {
    resources,
    world: world as ExplainWorld,
    proxy,
    port: 80,
  });
  const named = steps.filter(({ what }) => what === "host" || what === "rule").map((
    { what, name, matches, object, place },
  ) =>
    [what, name, matches === undefined ? "" : matches ? "yes" : "no", object, place?.file].filter(Boolean).join(" | ")
  );
  const rule = (at: string, verdict: string, field: string) =>
    `rule | HTTPRoute shop/web ${at} | ${verdict} | HTTPRoute/shop/web | routes.yaml ${field}`;
  assert.deepEqual(named, [
    "host | shop.example.com | HTTPRoute/shop/web | routes.yaml spec.hostnames",
    rule("rule 1 match 0", "no", "spec.rules[1].matches[0]"),
    rule("rule 1 match 1", "yes", "spec.rules[1].matches[1]"),
  ]);
});

Deno.test("a simulation in words names the rule behind the chosen route", () => {
  const text = explain(ask(gateway(), "/old"));
  assert.match(
    text,
    /route #\d+ moved {2}<- \/apis\/gateway\.networking\.k8s\.io\/v1\/namespaces\/shop\/http-route\/web rule 2 match 0/,
  );
});
