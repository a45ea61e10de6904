/** Overlays in ConfigMaps: strategic merge, their order, and mistakes. */
import assert from "node:assert/strict";
import { classDefaults } from "../../../lib/gateway_api/deploy/overlays.ts";
import { patched } from "../../../lib/gateway_api/deploy/patch.ts";
import { at, configMap, rendered, rendering, yaml } from "./source.ts";

const NAMED = { spec: { infrastructure: { parametersRef: { group: "", kind: "ConfigMap", name: "options" } } } };

Deno.test("overlays of the Gateway come over overlays of the class, over the template", () => {
  const made = rendered(NAMED, {
    classDefaults: configMap({
      deployment:
        "spec: { replicas: 2, template: { spec: { nodeSelector: { disk: fast }, priorityClassName: high } } }",
      serviceAccount: "metadata: { annotations: { role: arn } }",
    }),
    parameters: configMap({
      deployment: "spec: { replicas: 3, template: { spec: { containers: [{ name: mesh-proxy, tty: true }] } } }",
      service: "spec: { ports: [{ port: 80, nodePort: 30080 }], externalTrafficPolicy: Local }",
      horizontalPodAutoscaler: "spec: { minReplicas: 2, maxReplicas: 5 }",
      podDisruptionBudget: "spec: { minAvailable: 1 }",
    }),
  });
  assert.equal(made.Deployment!.spec["replicas"], 3);
  assert.equal(at(made.Deployment, "spec", "template", "spec", "priorityClassName"), "high");
  const proxy = at(made.Deployment, "spec", "template", "spec", "containers", 0);
  assert.deepEqual([at(proxy, "tty"), at(proxy, "name")], [true, "mesh-proxy"]);
  assert.ok(at(proxy, "image"), "fields of the template stay");
  assert.equal(made.ServiceAccount!.metadata.annotations["role"], "arn");
  assert.equal(made.Service!.spec["externalTrafficPolicy"], "Local");
  assert.deepEqual(at(made.Service, "spec", "ports", 1), {
    ...{ name: "http", port: 80, protocol: "TCP", appProtocol: "http", nodePort: 30080 },
  });
  assert.deepEqual(made.HorizontalPodAutoscaler!.spec, {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "gw-mesh" },
    ...{ maxReplicas: 5, minReplicas: 2 },
  });
  assert.deepEqual(made.PodDisruptionBudget!.spec, {
    selector: { matchLabels: { "gateway.networking.k8s.io/gateway-name": "gw" } },
    minAvailable: 1,
  });
});

Deno.test("an autoscaler and a budget are made only for an overlay that names them", () => {
  const made = rendered(NAMED, { parameters: configMap({ deployment: "" }) });
  assert.deepEqual(Object.keys(made), ["ServiceAccount", "Deployment", "Service"]);
});

Deno.test("labels that say who manages an object stay under overlays", () => {
  const made = rendered(NAMED, {
    parameters: configMap({ service: "metadata: { labels: { gateway.mesh.io/managed: null, own: x } }" }),
  });
  assert.equal(made.Service!.metadata.labels["gateway.mesh.io/managed"], "mesh.io-gateway-controller");
  assert.equal(made.Service!.metadata.labels["own"], "x");
});

const refusals: readonly [string, Parameters<typeof rendering>, RegExp][] = [
  ["another kind", [
    { spec: { infrastructure: { parametersRef: { group: "x.io", kind: "Options", name: "o" } } } },
  ], /parametersRef: Options of group x\.io, expected a ConfigMap/],
  ["a missing map", [NAMED], /ConfigMap options, expected one that exists/],
  ["an unknown entry", [NAMED, { parameters: configMap({ pods: "" }) }], /got entry "pods", expected serviceAccount/],
  ["text that is no YAML", [NAMED, { parameters: configMap({ service: "a: b: c" }) }], /service: line 1/],
  ["a list", [NAMED, { parameters: configMap({ service: "[a]" }) }], /service: got object, expected the fields/],
  ["a name", [NAMED, { parameters: configMap({ service: "metadata: { name: x }" }) }], /service\.metadata\.name/],
  ["an owner", [
    NAMED,
    { parameters: configMap({ service: "metadata: { ownerReferences: [] }" }) },
  ], /service\.metadata\.ownerReferences: expected no field/],
  ["another kind of object", [NAMED, { parameters: configMap({ service: "kind: Pod" }) }], /kind: expected Service/],
  ["a removal of the object", [NAMED, { parameters: configMap({ service: "$patch: delete" }) }], /no \$patch/],
];

for (const [what, given, expected] of refusals) {
  Deno.test(`parameters with ${what} are invalid: nothing is rendered`, () => {
    const result = rendering(...given);
    assert.match("invalidParameters" in result ? result.invalidParameters : "", expected);
  });
}

Deno.test("the oldest map of a class counts", () => {
  const labels = { "gateway.istio.io/defaults-for-class": "mesh" };
  const young = configMap({}, { name: "a", labels, creationTimestamp: "2026-02-01T00:00:00Z" });
  const old = configMap({}, { name: "z", labels, creationTimestamp: "2026-01-01T00:00:00Z" });
  const other = configMap({}, { name: "0", labels: { "gateway.mesh.io/defaults-for-class": "other" } });
  assert.equal(classDefaults([other, young, old], "mesh")?.meta.name, "z");
  assert.equal(classDefaults([other], "mesh"), undefined);
});

/** Base, patch, result: each as YAML in one line. */
const merges: readonly [string, string, string, string][] = [
  ["fields merge, null removes", "{a: {b: 1, c: 2}}", "{a: {b: null, d: 3}}", "{a: {c: 2, d: 3}}"],
  ["$patch: replace of an object", "{a: {b: 1}}", "{a: {$patch: replace, c: 2}}", "{a: {c: 2}}"],
  ["$patch: delete of an object", "{a: {b: 1}, d: 1}", "{a: {$patch: delete}}", "{d: 1}"],
  [
    "items merge by key",
    "{env: [{name: A, value: x}, {name: B, value: y}]}",
    "{env: [{name: B, value: z}, {name: C}]}",
    "{env: [{name: A, value: x}, {name: B, value: z}, {name: C}]}",
  ],
  [
    "a value takes the place of a source",
    "{env: [{name: A, valueFrom: {f: 1}}]}",
    "{env: [{name: A, value: z}]}",
    "{env: [{name: A, value: z}]}",
  ],
  [
    "a volume has one source",
    "{volumes: [{name: v, emptyDir: {}}]}",
    "{volumes: [{name: v, secret: {s: 1}}]}",
    "{volumes: [{name: v, secret: {s: 1}}]}",
  ],
  [
    "$patch: delete of an item",
    "{volumes: [{name: v}, {name: w}]}",
    "{volumes: [{name: v, $patch: delete}]}",
    "{volumes: [{name: w}]}",
  ],
  ["$patch: replace of a list", "{env: [{name: A}]}", "{env: [{$patch: replace}, {name: B}]}", "{env: [{name: B}]}"],
  [
    "lists without a key are replaced",
    "{args: [a, b], tolerations: [{key: a}]}",
    "{args: [c], tolerations: [{key: b}]}",
    "{args: [c], tolerations: [{key: b}]}",
  ],
  [
    "ports of a Service merge by number and protocol",
    "{ports: [{port: 443, protocol: TCP}, {port: 443, protocol: UDP}]}",
    "{ports: [{port: 443, nodePort: 30443}, {port: 80}]}",
    "{ports: [{port: 443, protocol: TCP, nodePort: 30443}, {port: 443, protocol: UDP}, {port: 80}]}",
  ],
  [
    "new objects lose their directives",
    "{}",
    "{a: {b: [{name: x, $patch: replace}], $setElementOrder/b: [x]}}",
    "{a: {b: []}}",
  ],
  [
    "deep lists merge",
    "{s: {containers: [{name: p, env: [{name: A, value: x}]}]}}",
    "{s: {containers: [{name: p, env: [{name: A, $patch: delete}]}]}}",
    "{s: {containers: [{name: p, env: []}]}}",
  ],
];

for (const [what, base, patch, expected] of merges) {
  Deno.test(`patch: ${what}`, () => {
    const before = yaml(base) as Record<string, unknown>;
    const copy = structuredClone(before);
    assert.deepEqual(patched(before, yaml(patch) as Record<string, unknown>), yaml(expected));
    assert.deepEqual(before, copy, "the base is unchanged");
  });
}
