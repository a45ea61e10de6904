/** Whatever a valid route says, its rules can be sent: Envoy refuses all rules of a host because of one wrong value. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { parseObject } from "../../../lib/config/object.ts";
import { checkHttpRoute } from "../../../lib/config/kinds/virtual_service/validate_http.ts";
import { Findings } from "../../../lib/finding/findings.ts";
import { merged, type RequestRoute } from "../../../lib/gateway_api/derive/rules.ts";
import { unsendable } from "../../../lib/translate/values/wire_limits.ts";
import { inFile } from "../../config/origins.ts";
import { envoyPath } from "../../envoy/path.ts";
import { validate } from "../../envoy/verdict.ts";
import { routeListener } from "../../translate/route/route_listener.ts";
import { rules } from "./routes.ts";
import { routeConfiguration } from "./traffic.ts";
import { runs, seedOr } from "../../properties.ts";

const SEED = seedOr(20264);

/** Texts that break what is made of them, and plain ones. */
const text = fc.oneof(
  fc.constantFrom(
    "/",
    "",
    "/a",
    "/a/",
    "//",
    "/a\\1",
    "(",
    "[a",
    "a*",
    "%",
    "%%",
    "%REQ(x)%",
    "a\nb",
    "a b",
    "*",
    "/é",
  ),
  fc.constantFrom("https://*.a.com", "https://a.com:443", "Host", ":path", "x-a", "X-A", "content-length"),
  fc.string({ maxLength: 12 }),
);
const named = fc.record({ name: text, value: text, type: fc.constantFrom("Exact", "RegularExpression") });
const plain = fc.record({ name: text, value: text });
const optional = <T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(model, { requiredKeys: [] });
const changes = optional({
  set: fc.array(plain, { maxLength: 3 }),
  add: fc.array(plain, { maxLength: 3 }),
  remove: fc.array(text, { maxLength: 3 }),
});
const path = fc.record({
  type: fc.constantFrom("ReplaceFullPath", "ReplacePrefixMatch"),
  replaceFullPath: text,
  replacePrefixMatch: text,
});
const backendRef = fc.record({ name: fc.constantFrom("a", "b", "missing"), port: fc.constant(80) });
const filter = fc.oneof(
  fc.record({ type: fc.constant("RequestHeaderModifier"), requestHeaderModifier: changes }),
  fc.record({ type: fc.constant("ResponseHeaderModifier"), responseHeaderModifier: changes }),
  fc.record({ type: fc.constant("URLRewrite"), urlRewrite: optional({ path, hostname: fc.constant("b.com") }) }),
  fc.record({
    type: fc.constant("RequestRedirect"),
    requestRedirect: optional({ path, scheme: fc.constantFrom("http", "https"), port: fc.constantFrom(80, 443, 1) }),
  }),
  fc.record({ type: fc.constant("RequestMirror"), requestMirror: fc.record({ backendRef }) }),
  fc.record({
    type: fc.constant("CORS"),
    cors: optional({ allowOrigins: fc.array(text), allowHeaders: fc.array(text), allowCredentials: fc.boolean() }),
  }),
  fc.constant({ type: "ExtensionRef", extensionRef: { group: "", kind: "K", name: "n" } }),
);
const filters = fc.array(filter, { maxLength: 3 });
const weighted = fc.tuple(backendRef, fc.nat(3), filters).map(([ref, weight, filters]) => ({
  ...ref,
  weight,
  filters,
}));
const match = optional({
  path: fc.record({ type: fc.constantFrom("Exact", "PathPrefix", "RegularExpression"), value: text }),
  headers: fc.array(named, { maxLength: 3 }),
  queryParams: fc.array(named, { maxLength: 3 }),
  method: fc.constantFrom("GET", "OPTIONS"),
});
const rule = optional({
  matches: fc.array(match, { maxLength: 3 }),
  filters,
  backendRefs: fc.array(weighted, { maxLength: 3 }),
  timeouts: optional({ request: fc.constantFrom("0s", "1ms", "1h"), backendRequest: fc.constantFrom("0s", "10s") }),
  retry: optional({ attempts: fc.nat(3), codes: fc.array(fc.integer({ min: 400, max: 599 })) }),
});

/** The route, if the schema takes it. */
function parsed(rules: readonly object[]): RequestRoute | undefined {
  const tree = {
    ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute", metadata: { name: "web", namespace: "shop" } },
    spec: { parentRefs: [{ name: "gw" }], rules },
  };
  return parseObject(tree, inFile("a"), { defaultNamespace: "shop" }).object as RequestRoute | undefined;
}

Deno.test("every rule of a valid route has an action, and nothing that the proxy refuses", () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.array(rule, { minLength: 1, maxLength: 2 }), (written) => {
      const route = parsed(written);
      if (route === undefined) return;
      taken++;
      for (const one of merged([rules(route)])) {
        const actions = [one.route, one.redirect, one.directResponse].filter((action) => action !== undefined);
        assert.equal(actions.length, 1);
        assert.equal(unsendable(one, one.match?.[0]), undefined);
        const findings = new Findings();
        const { retries: _, ...checked } = one;
        checkHttpRoute(checked, false, "rule", findings);
        assert.deepEqual(findings.list.filter(({ severity }) => severity === "error"), []);
      }
    }),
    { numRuns: runs(2000) },
  );
  assert.ok(taken > 80, `${taken} of 2000 routes are valid`);
});

const binary = envoyPath();

Deno.test({
  name: "a real Envoy accepts the rules of random routes",
  ignore: binary === undefined,
  fn: async () => {
    const sample = fc.sample(fc.array(rule, { minLength: 1, maxLength: 2 }), { numRuns: 2000, seed: SEED });
    const routes = sample.flatMap((written) => parsed(written) ?? []);
    assert.ok(routes.length > 80);
    const listeners = [routeListener(routeConfiguration(routes.map((route) => rules(route)), { port: 8080 }), 1)];
    const { accepted, output } = await validate(binary!, { listeners, clusters: [] });
    assert.ok(accepted, output);
  },
});
