import assert from "node:assert/strict";
import type { DestinationRuleSpec } from "../../lib/config/kinds/kinds.ts";
import { type ConfigObject, objectKey } from "../../lib/config/types.ts";
import { destinationRuleHost, mergeDestinationRules, ruleForClient } from "../../lib/mesh/destination_rule.ts";
import { isVisible } from "../../lib/mesh/visibility.ts";
import { inFile } from "../config/origins.ts";

const options = { domainSuffix: "cluster.local", defaultExportTo: ["*"], enhancedMerge: true };

function rule(name: string, spec: Partial<DestinationRuleSpec>): ConfigObject<"DestinationRule"> {
  const key = objectKey("DestinationRule", "default", name);
  return {
    kind: "DestinationRule",
    key,
    meta: { name, namespace: "default", labels: {}, annotations: {}, creationTimestamp: 0 },
    spec: { host: "reviews", ...spec },
    origin: inFile("a.yaml"),
    hash: key,
  };
}

const random = { trafficPolicy: { loadBalancer: { simple: "RANDOM" } } } as const;
const robin = { trafficPolicy: { loadBalancer: { simple: "ROUND_ROBIN" } } } as const;

/** The name of the rule, its subsets and its causes, for a client with a namespace and labels. */
function inForce(
  rules: ConfigObject<"DestinationRule">[],
  client: string,
  labels: Record<string, string> = {},
  o = options,
) {
  const seen = mergeDestinationRules(rules, o).filter((x) =>
    isVisible({ namespace: x.namespace, exportTo: x.spec.exportTo ?? [] }, client)
  );
  const found = ruleForClient(seen, (selector) => Object.entries(selector).every(([k, v]) => labels[k] === v));
  return found && {
    policy: found.spec.trafficPolicy?.loadBalancer?.simple,
    subsets: (found.spec.subsets ?? []).map((x) => x.name).join(),
    causes: found.causes.map((x) => x.split("/")[2]).join(),
  };
}

Deno.test("the host becomes a full, lower-case name", () => {
  assert.equal(destinationRuleHost(rule("a", { host: "Reviews" }), options), "reviews.default.svc.cluster.local");
  assert.equal(destinationRuleHost(rule("a", { host: "*.Example.com" }), options), "*.example.com");
  assert.equal(mergeDestinationRules([rule("a", {})], options)[0]!.spec.host, "reviews.default.svc.cluster.local");
});

Deno.test("a single rule keeps its subsets, and subsets of one name only once", () => {
  const alone = rule("a", { subsets: [{ name: "v1" }, { name: "v2" }] });
  const [merged] = mergeDestinationRules([alone], options);
  assert.equal(merged!.spec.subsets, alone.spec.subsets);
  assert.deepEqual([merged!.causes, merged!.duplicateSubsets], [[alone.key], []]);
  const twice = rule("b", { subsets: [{ name: "v1" }, { name: "v1", labels: { version: "2" } }] });
  const [once] = mergeDestinationRules([twice], options);
  assert.deepEqual(once!.spec.subsets, [{ name: "v1" }]);
  assert.deepEqual(once!.duplicateSubsets, [{ subset: "v1", accepted: twice.key, rejected: twice.key }]);
});

Deno.test("rules of one audience merge: first policy, all subsets, duplicates dropped and reported", () => {
  const merged = mergeDestinationRules([
    rule("a", { subsets: [{ name: "v1" }] }),
    rule("b", { ...random, subsets: [{ name: "v1", labels: { x: "y" } }, { name: "v2" }], exportTo: ["*"] }),
    rule("c", robin),
  ], options);
  assert.equal(merged.length, 1);
  const [one] = merged;
  assert.deepEqual(one!.spec.subsets, [{ name: "v1" }, { name: "v2" }]);
  assert.deepEqual(one!.spec.trafficPolicy, random.trafficPolicy);
  assert.deepEqual(one!.duplicateSubsets, [
    { subset: "v1", accepted: "DestinationRule/default/a", rejected: "DestinationRule/default/b" },
  ]);
  assert.deepEqual(one!.causes, ["a", "b", "c"].map((x) => `DestinationRule/default/${x}`));
});

Deno.test("rules with unequal exportTo stay independent; a client gets the rule with the narrowest export", () => {
  const rules = [
    rule("all", { subsets: [{ name: "all" }] }),
    rule("named", { subsets: [{ name: "named" }], exportTo: ["b", "c"] }),
    rule("own", { subsets: [{ name: "own" }], exportTo: ["."] }),
  ];
  for (const order of [rules, rules.toReversed()]) {
    assert.equal(inForce(order, "default")?.subsets, "own");
    assert.equal(inForce(order, "b")?.subsets, "named");
    assert.equal(inForce(order, "z")?.subsets, "all");
  }
});

Deno.test("without the enhanced merge all visible rules merge, private ones for their own namespace only", () => {
  const old = { ...options, enhancedMerge: false };
  const rules = [
    rule("own", { ...random, subsets: [{ name: "own" }], exportTo: ["."] }),
    rule("all", { ...robin, subsets: [{ name: "all" }] }),
    rule("named", { subsets: [{ name: "named" }], exportTo: ["b"] }),
  ];
  assert.deepEqual(inForce(rules, "default", {}, old), { policy: "RANDOM", subsets: "own,all", causes: "own,all" });
  assert.deepEqual(inForce(rules, "b", {}, old), { policy: "ROUND_ROBIN", subsets: "all,named", causes: "all,named" });
  assert.equal(inForce([rules[0]!], "b", {}, old), undefined);
});

Deno.test("a rule with a selector has precedence over the general rule for its workloads, and inherits missing settings from the general rule", () => {
  const rules = [
    rule("general", { ...random, subsets: [{ name: "v1" }] }),
    rule("a1", { workloadSelector: { matchLabels: { app: "a" } }, subsets: [{ name: "a" }] }),
    rule("a2", { workloadSelector: { matchLabels: { app: "a" } }, ...robin }),
    rule("b", { workloadSelector: { matchLabels: { app: "b" } }, ...robin, exportTo: ["*"] }),
  ];
  const of = (labels: Record<string, string>, client = "default") => inForce(rules, client, labels);
  assert.deepEqual(of({ app: "a" }), { policy: "ROUND_ROBIN", subsets: "a,v1", causes: "a1,a2,general" });
  assert.deepEqual(of({ app: "b" }), { policy: "ROUND_ROBIN", subsets: "v1", causes: "b,general" });
  assert.deepEqual(of({ app: "c" }), { policy: "RANDOM", subsets: "v1", causes: "general" });
  assert.deepEqual(of({ app: "b" }, "other"), { policy: "RANDOM", subsets: "v1", causes: "general" });
});

Deno.test("an empty selector selects every workload of the namespace", () => {
  const rules = [rule("general", random), rule("all", { workloadSelector: {}, ...robin })];
  assert.equal(inForce(rules, "default")?.policy, "ROUND_ROBIN");
  assert.equal(inForce(rules, "other")?.policy, "RANDOM");
});

Deno.test("a rule with a selector takes nothing from a general rule that its namespace does not see", () => {
  const rules = [
    rule("far", { ...random, subsets: [{ name: "v1" }], exportTo: ["b"] }),
    rule("a", { workloadSelector: { matchLabels: { app: "a" } } }),
  ];
  assert.deepEqual(inForce(rules, "default", { app: "a" }), { policy: undefined, subsets: "", causes: "a" });
});
