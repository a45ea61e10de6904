/** The fields of rules that only derivations set. */
import assert from "node:assert/strict";
import type { HttpRoute } from "../../../lib/config/kinds/kinds.ts";
import { type RuleSource, UNRESOLVED_HOST } from "../../../lib/config/kinds/virtual_service/internal.ts";
import { parseObject } from "../../../lib/config/object.ts";
import { destinationHosts } from "../../../lib/mesh/virtual_service_index.ts";
import { effectiveVirtualServices } from "../../../lib/mesh/virtual_service.ts";
import { HashedObject } from "../../../lib/config/hashed_object.ts";
import { writtenForm } from "../../../lib/config/kinds/written.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { fromStruct } from "../../../lib/pb/wellknown.ts";
import { ruleParts } from "../../../lib/translate/message/parts.ts";
import { httpRoutes, type RouteContext } from "../../../lib/translate/route/virtual_service.ts";
import { inFile } from "../../config/origins.ts";
import { meshReader } from "../mesh_reader.ts";
import { service, virtualService } from "./objects.ts";

const source: RuleSource = { kind: "HTTPRoute", namespace: "shop", name: "web", rule: 2, match: 0 };
const b = { destination: { host: "b.com", port: { number: 80 } } };

function translate(rule: HttpRoute, context: Partial<RouteContext> = {}) {
  const read = meshReader({ services: [service({ hostname: "b.com" })] });
  return httpRoutes(virtualService([rule]), { read, port: 80, gateways: ["mesh"], tls: false, ...context }).routes;
}

Deno.test("a user's VirtualService with internal fields is refused, and so is such a field of a destination", () => {
  for (const rule of [{ route: [b], internal: { source } }, { route: [{ ...b, internal: { unresolved: 500 } }] }]) {
    const tree = {
      ...{ apiVersion: "networking.istio.io/v1", kind: "VirtualService", metadata: { name: "a" } },
      spec: { hosts: ["a.com"], http: [rule] },
    };
    const { object, findings } = parseObject(tree, inFile("a"), { defaultNamespace: "default" });
    assert.equal(object, undefined);
    assert.match(findings[0]?.place.field ?? "", /internal$/);
  }
});

Deno.test("internal fields are part of an object's hash and of its written form", () => {
  const of = (rule: HttpRoute) =>
    new HashedObject(
      "VirtualService",
      { name: "d", namespace: "shop", labels: {}, annotations: {}, creationTimestamp: 0 },
      { hosts: ["a.com"], http: [rule] },
      inFile("a"),
    );
  const derived = of({ route: [b], internal: { source } });
  assert.notEqual(derived.hash, of({ route: [b] }).hash);
  assert.notEqual(derived.hash, of({ route: [b], internal: { source: { ...source, rule: 3 } } }).hash);
  const { spec } = writtenForm(derived) as { spec: { http: [{ internal: unknown }] } };
  assert.deepEqual(spec.http[0].internal, { source });
});

Deno.test("the share of a destination without a backend goes to a cluster that never exists, and gets 500 there", () => {
  const nobody = { destination: { host: UNRESOLVED_HOST }, weight: 1, internal: { unresolved: 500 } } as const;
  const rule: HttpRoute = { route: [{ ...b, weight: 3 }, nobody], internal: { source } };
  const [route] = translate(rule);
  const clusters = route?.route?.weighted_clusters?.clusters?.map(({ name, weight }) => [name, weight?.value]);
  assert.deepEqual(clusters, [["outbound|80||b.com", 3], ["UnresolvedBackend", 1]]);
  assert.equal(route?.route?.cluster_not_found_response_code, 2);
  assert.deepEqual([...destinationHosts(virtualService([rule]))], ["b.com"], "nothing is looked up for it");
  const [call] = translate({ ...rule, route: [{ ...b, weight: 3 }, { ...nobody, internal: { unresolved: 503 } }] });
  assert.equal(call?.route?.cluster_not_found_response_code, undefined, "503 is Envoy's default");
});

Deno.test("a redirect changes its path by prefix or expression", () => {
  const redirect = { derivePort: "FROM_REQUEST_PORT", redirectCode: 302 } as const;
  const [prefix] = translate({ redirect, internal: { source, redirectPath: { prefix: "/new" } } });
  assert.deepEqual(prefix?.redirect, { response_code: 1, prefix_rewrite: "/new" });
  const regex = { match: "^/old/*", rewrite: "/" };
  const [removed] = translate({ redirect, internal: { source, redirectPath: { regex } } });
  assert.deepEqual(removed?.redirect?.regex_rewrite, { pattern: { regex: "^/old/*" }, substitution: "/" });
});

const ports: [string, HttpRoute["redirect"], Partial<RouteContext>, (number | undefined)[]][] = [
  ["the listener's port", { derivePort: "FROM_REQUEST_PORT" }, { port: 8080 }, [8080]],
  ["no port at the default port", { derivePort: "FROM_REQUEST_PORT" }, { port: 443, tls: true }, [undefined]],
  ["the default of a new scheme, written in place of the client's port", { scheme: "https" }, { port: 8080 }, [
    443,
    undefined,
  ]],
  ["a written default port in place of the client's port", { port: 80 }, { port: 8080 }, [80, undefined]],
  ["another host has no port of the client", { scheme: "https", authority: "b.com" }, { port: 8080 }, [undefined]],
  ["a port that is no default", { scheme: "https", port: 8443 }, { port: 8080 }, [8443]],
];
for (const [name, redirect, context, expected] of ports) {
  Deno.test(`the port of a derived redirect: ${name}`, () => {
    const routes = translate({ ...(redirect && { redirect }), internal: { source } }, context);
    assert.deepEqual(routes.map((route) => route.redirect?.port_redirect), expected);
    const conditions = routes.map((route) => route.match?.headers?.map(({ name }) => name));
    if (expected.length === 2) assert.deepEqual(conditions, [[":authority"], undefined]);
    const written = translate({ ...(redirect && { redirect }) }, context);
    assert.equal(written.length, 1, "a user's redirect stays one route");
  });
}

Deno.test("a route names the rule behind it in its metadata, and the rule is a part of its message", () => {
  const [object] = effectiveVirtualServices([
    new HashedObject(
      "VirtualService",
      { name: "d", namespace: "shop", labels: {}, annotations: {}, creationTimestamp: 0 },
      { hosts: ["a.com"], http: [{ match: [{ uri: { prefix: "/a" } }], route: [b], internal: { source } }] },
      inFile("a"),
    ),
  ], { domainSuffix: "cluster.local", defaultExportTo: ["*"] });
  assert.deepEqual(object?.causes, ["VirtualService/shop/d", "HTTPRoute/shop/web"]);
  const read = meshReader({});
  const { routes, used } = httpRoutes(object!, { read, port: 80, gateways: ["mesh"], tls: false });
  const config = "/apis/gateway.networking.k8s.io/v1/namespaces/shop/http-route/web";
  assert.deepEqual(fromStruct(routes[0]?.metadata?.filter_metadata?.["istio"]), { config, rule: 2, match: 0 });
  assert.deepEqual(ruleParts(object!, "http", used), [
    "VirtualService/shop/d http 0.0",
    "HTTPRoute/shop/web rules 2.0",
  ]);
});

Deno.test("a rule keeps sessions by cookie or header, unless the proxy's build lacks the filter", () => {
  const session = { type: "cookie", name: "s", ttl: 60_000 } as const;
  const rule = { route: [b], internal: { source, session } };
  const [route] = translate(rule);
  const config = route?.typed_per_filter_config?.["envoy.filters.http.stateful_session"];
  const decoded = decode<{ stateful_session: { session_state: { name: string } } }>(
    "envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute",
    config!.value!,
  );
  assert.equal(decoded.stateful_session.session_state.name, "envoy.http.stateful_session.cookie");
  const bare = meshReader({ properties: { extensions: new Set(["envoy.filters.http.router"]) } });
  const { routes, warnings } = httpRoutes(virtualService([rule]), {
    ...{ read: bare, port: 80, gateways: ["mesh"], tls: false },
  });
  assert.equal(routes[0]?.typed_per_filter_config, undefined);
  assert.match(warnings[0]?.text ?? "", /lacks envoy\.filters\.http\.stateful_session; no session is kept$/);
});
