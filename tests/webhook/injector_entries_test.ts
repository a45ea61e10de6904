/**
 * No pod meets two entries of the mutating webhook, with any labels of pod and namespace, and either spelling opts out.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { injectorEntries, isAskedFor } from "../../lib/webhook/injector_entries.ts";
import { ownKey } from "../../lib/config/spelling/spelling.ts";
import type { LabelSelectorRequirement } from "../../lib/config/mesh/types.ts";

type Labels = Readonly<Record<string, string>>;

/** Like the API: judges by keys in their exact spelling. */
function meets(selector: readonly LabelSelectorRequirement[], labels: Labels): boolean {
  return selector.every(({ key, operator, values = [] }) => {
    const value = labels[key];
    if (operator === "In") return value !== undefined && values.includes(value);
    if (operator === "NotIn") return value === undefined || !values.includes(value);
    return (operator === "Exists") === (value !== undefined);
  });
}

const scope = { revision: "", namespace: "mesh-system" };

function entriesMet(ofNamespace: Labels, ofPod: Labels, of = scope): string[] {
  const met = injectorEntries(of).filter(({ namespaceSelector, objectSelector }) =>
    meets(namespaceSelector.matchExpressions, ofNamespace) && meets(objectSelector.matchExpressions, ofPod)
  );
  return met.map(({ name }) => name.replace(".sidecar-injector.", "@"));
}

const some = (values: readonly string[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const labelsOf = (choices: Readonly<Record<string, readonly string[]>>) =>
  fc.record(Object.fromEntries(Object.entries(choices).map(([key, values]) => [key, some(values)])))
    .map((labels) => Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== undefined)) as Labels);

const REVISIONS = ["default", "canary"], INJECTION = ["enabled", "disabled"], INJECT = ["true", "false"];
const namespaces = labelsOf({
  ...{ "mesh.io/rev": REVISIONS, "istio.io/rev": REVISIONS },
  ...{ "mesh-injection": INJECTION, "istio-injection": INJECTION },
});
const pods = labelsOf({
  ...{ "mesh.io/rev": REVISIONS, "istio.io/rev": REVISIONS },
  ...{ "sidecar.mesh.io/inject": INJECT, "sidecar.istio.io/inject": INJECT },
});

Deno.test("a pod meets at most one entry of all revisions", () => {
  fc.assert(fc.property(namespaces, pods, (ofNamespace, ofPod) => {
    const met = ["", "canary"].flatMap((revision) => entriesMet(ofNamespace, ofPod, { ...scope, revision }));
    assert.ok(met.length <= 1, met.join(" "));
  }));
});

Deno.test("labels in either spelling select the same pods", () => {
  const inOne = (istio: boolean) => (labels: Labels) =>
    Object.fromEntries(Object.entries(labels).filter(([key]) => /istio/.test(key) === istio));
  const own = (labels: Labels) =>
    Object.fromEntries(Object.entries(labels).map(([key, value]) => [ownKey(key), value]));
  fc.assert(fc.property(namespaces, pods, fc.boolean(), (all, ofAll, istio) => {
    const [ofNamespace, ofPod] = [inOne(istio)(all), inOne(istio)(ofAll)];
    assert.equal(isAskedFor(scope, own(ofNamespace), own(ofPod)), entriesMet(ofNamespace, ofPod).length > 0);
  }));
});

Deno.test("entries in Istio's spelling leave out pods that Istio's injector has changed; the others are asked, and answer with a reason", () => {
  for (const { name, matchConditions = [] } of injectorEntries(scope)) {
    const keys = matchConditions.map(({ expression }) => expression.includes('"sidecar.istio.io/status" in object'));
    assert.deepEqual(keys, name.endsWith(".istio.io") ? [true] : [], name);
  }
});

Deno.test("the last four entries are Istio's, in the order of the patch that takes them away", () => {
  const page = Deno.readTextFileSync(new URL("../../docs/users/moving_from_istio.md", import.meta.url));
  const names = injectorEntries(scope).map(({ name }) => name);
  assert.deepEqual(names.map((name) => name.endsWith(".istio.io")), [...Array(4).fill(false), ...Array(4).fill(true)]);
  const patch = JSON.parse(/--type=json -p '(\[[^']*\])'/.exec(page)![1]!) as {
    op: string;
    path: string;
    value?: string;
  }[];
  for (const { op, path, value } of patch) {
    const [, index = "", field] = /^\/webhooks\/(\d)(\/name)?$/.exec(path)!;
    assert.equal(field, op === "test" ? "/name" : undefined);
    if (op === "test") assert.equal(names[Number(index)], value);
  }
  assert.deepEqual(patch.filter(({ op }) => op === "remove").map(({ path }) => path.at(-1)), ["7", "6", "5", "4"]);
});

Deno.test("each entry selects a pod with the labels of that entry", () => {
  const cases: readonly (readonly [string[], Labels, Labels])[] = [
    [["namespace@mesh.io"], { "mesh-injection": "enabled" }, {}],
    [["namespace@istio.io"], { "istio-injection": "enabled" }, {}],
    [["rev.namespace@mesh.io"], { "mesh.io/rev": "default" }, {}],
    [["rev.namespace@istio.io"], { "istio.io/rev": "default" }, {}],
    [["object@mesh.io"], {}, { "sidecar.mesh.io/inject": "true" }],
    [["object@istio.io"], {}, { "sidecar.istio.io/inject": "true" }],
    [["rev.object@mesh.io"], {}, { "mesh.io/rev": "default" }],
    [["rev.object@istio.io"], {}, { "istio.io/rev": "default" }],
    [[], {}, {}],
    [[], { "mesh-injection": "disabled" }, { "sidecar.mesh.io/inject": "true" }],
    [[], { "mesh-injection": "enabled" }, { "sidecar.istio.io/inject": "false" }],
    [["namespace@mesh.io"], { "mesh-injection": "enabled", "mesh.io/rev": "canary" }, {}],
    [["rev.namespace@mesh.io"], { "mesh.io/rev": "default", "istio.io/rev": "canary" }, {}],
    [[], { "mesh.io/rev": "canary" }, {}],
  ];
  for (const [expected, ofNamespace, ofPod] of cases) {
    assert.deepEqual(entriesMet(ofNamespace, ofPod), expected, JSON.stringify([ofNamespace, ofPod]));
  }
});

Deno.test("a server of a revision has no entries for pods without one", () => {
  const names = injectorEntries({ ...scope, revision: "canary" }).map(({ name }) => name);
  assert.deepEqual(names.filter((name) => !name.startsWith("rev.")), []);
});

Deno.test("labels of the server's namespace and of the orchestrator's namespaces select no pod; a pod there is selected by its own label", () => {
  for (const name of ["mesh-system", "kube-system"]) {
    const labels = { "kubernetes.io/metadata.name": name };
    assert.deepEqual(entriesMet({ ...labels, "mesh-injection": "enabled" }, {}), []);
    assert.deepEqual(entriesMet({ ...labels, "istio.io/rev": "default" }, {}), []);
    assert.deepEqual(entriesMet(labels, { "sidecar.mesh.io/inject": "true" }), ["object@mesh.io"]);
  }
});

Deno.test("a namespace without a label of injection gets no proxies, unless a pod asks for one itself", () => {
  assert.deepEqual(entriesMet({}, {}), []);
  assert.equal(entriesMet({}, { "sidecar.mesh.io/inject": "true" }).length, 1);
  assert.equal(entriesMet({ "mesh-injection": "enabled" }, {}).length, 1);
  assert.deepEqual(entriesMet({ "mesh-injection": "disabled" }, {}), []);
});

Deno.test("if a namespace has a label for injection and a label for a revision, the label for injection decides", () => {
  const canary = { ...scope, revision: "canary" };
  for (
    const [injection, revision] of [["mesh-injection", "mesh.io/rev"], ["istio-injection", "istio.io/rev"]] as const
  ) {
    const both = (value: string) => ({ [injection]: value, [revision]: "canary" });
    assert.equal(entriesMet(both("enabled"), {}).length, 1);
    assert.deepEqual(entriesMet(both("enabled"), {}, canary), []);
    assert.deepEqual([...entriesMet(both("disabled"), {}), ...entriesMet(both("disabled"), {}, canary)], []);
    const ambient = { "mesh.io/dataplane-mode": "ambient", "istio.io/dataplane-mode": "ambient" };
    assert.equal(entriesMet({ [injection]: "enabled", ...ambient }, {}).length, 1);
    assert.equal(entriesMet({ [revision]: "canary", ...ambient }, {}, canary).length, 1);
  }
});
