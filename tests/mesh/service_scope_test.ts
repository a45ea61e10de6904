/** The scope of services by `serviceScopeConfigs`, as the text of the mesh configuration has them. */
import assert from "node:assert/strict";
import { formatFinding } from "../../lib/finding/finding.ts";
import { parseMeshConfig } from "../../lib/config/mesh/parse.ts";
import { type ScopedService, scopeOfService } from "../../lib/mesh/service_scope.ts";

const parsed = (text: string) => parseMeshConfig(text, { systemNamespace: "mesh-system" });

function scope(text: string, labels: ScopedService["labels"], namespaceLabels?: ScopedService["namespaceLabels"]) {
  const { value, findings } = parsed(text);
  assert.deepEqual(findings.map(formatFinding), []);
  return scopeOfService(value?.serviceScopeConfigs ?? [], { labels, namespaceLabels });
}

const BY_LABEL = `
serviceScopeConfigs:
- servicesSelector: { matchExpressions: [{ key: istio.io/global, operator: In, values: ["true"] }] }
  scope: GLOBAL
`;

Deno.test("a service that no entry matches is local, and so is every service without entries", () => {
  assert.equal(scope("", { "mesh.io/global": "true" }, {}), "LOCAL");
  assert.equal(scope(BY_LABEL, {}, {}), "LOCAL");
  assert.equal(scope(BY_LABEL, { "mesh.io/global": "false" }, {}), "LOCAL");
});

Deno.test("an entry makes services global by their label, in Istio's spelling and in ours", () => {
  assert.equal(scope(BY_LABEL, { "mesh.io/global": "true" }, {}), "GLOBAL");
  assert.equal(scope(BY_LABEL.replace("istio.io", "mesh.io"), { "mesh.io/global": "true" }, {}), "GLOBAL");
});

Deno.test("both selectors of an entry must match; a missing or empty selector matches everything", () => {
  const both = `
serviceScopeConfigs:
- namespaceSelector: { matchLabels: { team: shop } }
  servicesSelector: { matchLabels: { app: cart } }
  scope: GLOBAL
`;
  assert.equal(scope(both, { app: "cart" }, { team: "shop" }), "GLOBAL");
  assert.equal(scope(both, { app: "cart" }, { team: "bank" }), "LOCAL");
  assert.equal(scope(both, { app: "list" }, { team: "shop" }), "LOCAL");
  assert.equal(scope("serviceScopeConfigs: [{ scope: GLOBAL }]", {}, undefined), "GLOBAL");
  assert.equal(scope("serviceScopeConfigs: [{ servicesSelector: {}, scope: GLOBAL }]", {}, {}), "GLOBAL");
});

Deno.test("the first entry that matches decides; an entry without a scope is local", () => {
  const kept = "{ namespaceSelector: { matchLabels: { team: bank } } }";
  const all = "{ scope: GLOBAL }";
  assert.equal(scope(`serviceScopeConfigs: [${kept}, ${all}]`, {}, { team: "bank" }), "LOCAL");
  assert.equal(scope(`serviceScopeConfigs: [${kept}, ${all}]`, {}, { team: "shop" }), "GLOBAL");
  assert.equal(scope(`serviceScopeConfigs: [${all}, ${kept}]`, {}, { team: "bank" }), "GLOBAL");
});

Deno.test("in a namespace without an object, selectors of namespaces make no service global", () => {
  const notBank = "{ matchExpressions: [{ key: team, operator: NotIn, values: [bank] }] }";
  assert.equal(scope(`serviceScopeConfigs: [{ namespaceSelector: ${notBank}, scope: GLOBAL }]`, {}), "LOCAL");
  const kept = "{ namespaceSelector: { matchLabels: { team: bank } } }";
  assert.equal(scope(`serviceScopeConfigs: [${kept}, { scope: GLOBAL }]`, {}), "LOCAL");
});

Deno.test("a selector whose operator misses values, or has values too many, is refused with its place", () => {
  const { findings } = parsed(`
serviceScopeConfigs:
- servicesSelector: { matchExpressions: [{ key: app, operator: In }] }
- namespaceSelector: { matchExpressions: [{ key: app, operator: Exists, values: [a] }] }
`);
  assert.deepEqual(findings.map(({ place }) => place.field), [
    "serviceScopeConfigs[0].servicesSelector.matchExpressions[0].values",
    "serviceScopeConfigs[1].namespaceSelector.matchExpressions[0].values",
  ]);
});
