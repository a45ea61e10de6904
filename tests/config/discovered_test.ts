/** Objects of discovered namespaces: label selectors, and the objects accepted by a source. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { DiscoveredNamespaces } from "../../lib/config/discovered_namespaces.ts";
import { DiscoveredSource } from "../../lib/config/discovered_source.ts";
import { FactStore } from "../../lib/config/facts/store.ts";
import { meetsLabelSelector } from "../../lib/config/mesh/label_selector.ts";
import { parseMeshConfig } from "../../lib/config/mesh/parse.ts";
import type { LabelSelector } from "../../lib/config/mesh/types.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import { fact, manifest } from "./facts/manifests.ts";
import { inFile } from "./origins.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("a label selector is met as the orchestrator reads it, in either spelling", () => {
  const labels = { env: "prod", "mesh-injection": "enabled" };
  const expression = (key: string, operator: "In" | "NotIn" | "Exists" | "DoesNotExist", values: string[] = []) =>
    ({ matchExpressions: [{ key, operator, values }] }) as LabelSelector;
  const met: LabelSelector[] = [
    {},
    { matchLabels: { env: "prod" } },
    expression("env", "In", ["test", "prod"]),
    expression("env", "NotIn", ["test"]),
    expression("absent", "NotIn", ["test"]),
    expression("env", "Exists"),
    expression("absent", "DoesNotExist"),
    expression("istio-injection", "In", ["enabled"]),
  ];
  const unmet: LabelSelector[] = [
    { matchLabels: { env: "prod", more: "x" } },
    { matchLabels: { toString: "x" } },
    expression("env", "In", ["test"]),
    expression("absent", "In", ["test"]),
    expression("env", "NotIn", ["prod"]),
    expression("toString", "Exists"),
    expression("env", "DoesNotExist"),
    { matchLabels: { env: "prod" }, ...expression("env", "DoesNotExist") },
  ];
  assert.deepEqual(met.filter((one) => !meetsLabelSelector(one, labels)), []);
  assert.deepEqual(unmet.filter((one) => meetsLabelSelector(one, labels)), []);
});

test("requirements with superfluous values, or without needed values, refuse the mesh configuration", () => {
  const text = JSON.stringify({
    discoverySelectors: [{
      matchExpressions: [{ key: "a", operator: "In" }, { key: "b", operator: "Exists", values: ["x"] }],
    }],
  });
  const { value, findings } = parseMeshConfig(text, { systemNamespace: "mesh-system", source: "mesh" });
  assert.equal(value, undefined);
  assert.deepEqual(findings.map(({ message }) => /matchExpressions.*/.exec(message)?.[0]), [
    "matchExpressions[0].values: [], expected at least one value for In",
    'matchExpressions[1].values: ["x"], expected no values for Exists',
  ]);
});

const NAMESPACES = ["a", "b", "c"];
const namespace = fc.constantFrom(...NAMESPACES);
const event = fc.oneof(
  fc.record({ do: fc.constant("put" as const), namespace, name: fc.constantFrom("x", "y"), ours: fc.boolean() }),
  fc.record({ do: fc.constant("drop" as const), namespace, name: fc.constantFrom("x", "y") }),
  fc.record({ do: fc.constant("label" as const), namespace, stage: fc.constantFrom("one", "two") }),
  fc.record({ do: fc.constant("end" as const), namespace }),
  fc.record({ do: fc.constant("select" as const), stages: fc.subarray(["one", "two"]) }),
);

function rule(namespace: string, name: string, ours: boolean): ConfigObject<"DestinationRule"> {
  return {
    kind: "DestinationRule",
    key: `DestinationRule/${namespace}/${name}`,
    meta: { name, namespace, labels: ours ? {} : { "mesh.io/rev": "other" }, annotations: {}, creationTimestamp: 0 },
    spec: { host: name },
    origin: inFile("a.yaml", 1),
    hash: `${namespace}-${name}-${ours}`,
  };
}

for (const needsObject of [true, false]) {
  const which = needsObject ? "namespaces need an object" : "namespaces without an object count";
  test(`after any events a source has what it would have had they come in another order: ${which}`, () => {
    fc.assert(fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const facts = new FactStore();
      const cluster = facts.addSource("cluster", 0);
      const namespaces = new DiscoveredNamespaces(facts, needsObject);
      const store = new ConfigStore();
      const isRead = ({ meta }: ConfigObject) => Object.keys(meta.labels).length === 0;
      const source = new DiscoveredSource(store.addSource("s", 0), namespaces, isRead);
      const [objects, stages] = [new Map<string, ConfigObject>(), new Map<string, string>()];
      let chosen: readonly string[] = [];
      for (const one of events) {
        if (one.do === "put") {
          const object = rule(one.namespace, one.name, one.ours);
          objects.set(object.key, object);
          source.apply({ upserted: [object], removed: [] });
        } else if (one.do === "drop") {
          const key = `DestinationRule/${one.namespace}/${one.name}`;
          objects.delete(key);
          source.apply({ upserted: [], removed: [key] });
        } else if (one.do === "label") {
          stages.set(one.namespace, one.stage);
          const object = manifest("Namespace", "", one.namespace, { metadata: { labels: { stage: one.stage } } });
          cluster.apply({ upserted: [fact(object)], removed: [] });
        } else if (one.do === "end") {
          stages.delete(one.namespace);
          cluster.apply({ upserted: [], removed: [`Namespace//${one.namespace}`] });
        } else {
          chosen = one.stages;
          const byStage = one.stages.map((stage) => ({ matchLabels: { stage } }));
          const byName = { matchLabels: { "kubernetes.io/metadata.name": "c" } };
          namespaces.use(chosen.length === 0 ? [] : [...byStage, byName]);
        }
        const discovered = (name: string) =>
          chosen.length === 0 || chosen.includes(stages.get(name) ?? "") ||
          (name === "c" && (!needsObject || stages.has(name)));
        const expected = [...objects.values()].filter((o) => isRead(o) && discovered(o.meta.namespace));
        assert.deepEqual(store.list("DestinationRule").map(({ key }) => key), expected.map(({ key }) => key).sort());
      }
    }));
  });
}
