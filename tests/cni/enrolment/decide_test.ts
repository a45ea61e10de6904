/** Which pods are in ambient mode, and the selectors of the setting. */
import assert from "node:assert/strict";
import { DEFAULT_SELECTORS, enrolment } from "../../../lib/cni/enrolment/decide.ts";
import { readSelectors } from "../../../lib/cni/enrolment/selector_text.ts";
import { readPod } from "../../../lib/cni/pods/pod.ts";

const rules = { selectors: DEFAULT_SELECTORS, excludeNamespaces: ["orch-system"] };
const ambient = { "istio.io/dataplane-mode": "ambient" };

interface Given {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  namespace?: string;
  spec?: Record<string, unknown>;
  phase?: string;
}

function judged(given: Given, namespaceLabels: Record<string, string> = {}, all = rules) {
  const { labels = {}, annotations = {}, namespace = "shop", spec = {}, phase = "Running" } = given;
  return enrolment(
    readPod({ metadata: { namespace, labels, annotations }, spec, status: { phase } }),
    namespaceLabels,
    all,
  );
}

Deno.test("the label of the pod or of the namespace puts a pod in, in either spelling; only `none` takes it out", () => {
  for (const key of ["istio.io/dataplane-mode", "mesh.io/dataplane-mode"]) {
    assert(judged({ labels: { [key]: "ambient" } }).isIn);
    assert(judged({}, { [key]: "ambient" }).isIn);
    assert(!judged({ labels: { [key]: "none" } }, ambient).isIn);
    assert(judged({ labels: { [key]: "else" } }, ambient).isIn, "any other value leaves it to the namespace");
    assert(!judged({ labels: { [key]: "else" } }).isIn);
  }
  assert(!judged({}).isIn);
});

Deno.test("the node's network, a sidecar, an excluded namespace, an end and a tunnel keep a pod out, whatever its labels", () => {
  const out: [string, Given][] = [
    ["it uses the node's own network", { spec: { hostNetwork: true } }],
    ["it has a sidecar (annotation sidecar.istio.io/status)", { annotations: { "sidecar.istio.io/status": "" } }],
    ["it has a sidecar (annotation sidecar.mesh.io/status)", { annotations: { "sidecar.mesh.io/status": "{}" } }],
    ["its namespace is excluded", { namespace: "orch-system" }],
    ["it has ended", { phase: "Succeeded" }],
    ["it has ended", { phase: "Failed" }],
    ["it is a node tunnel", { labels: { ...ambient, app: "ztunnel" } }],
  ];
  for (const [why, given] of out) {
    assert.deepEqual(judged({ labels: ambient, ...given }, ambient), { isIn: false, why });
  }
});

Deno.test("selectors of the setting replace the default; an unset setting selects by the labels, not nothing", () => {
  assert.equal(readSelectors(" \n"), DEFAULT_SELECTORS);
  const selectors = readSelectors(`
- podSelector: { matchExpressions: [{ key: app, operator: In, values: [cart] }, { key: gone, operator: DoesNotExist }] }
  namespaceSelector: { matchExpressions: [{ key: team, operator: Exists }] }
`);
  const all = { ...rules, selectors };
  assert(judged({ labels: { app: "cart" } }, { team: "a" }, all).isIn);
  assert(!judged({ labels: { app: "cart" } }, {}, all).isIn);
  assert(!judged({ labels: { app: "cart", gone: "" } }, { team: "a" }, all).isIn);
  assert(!judged({ labels: ambient }, ambient, all).isIn);
  assert(judged({}, {}, { ...rules, selectors: readSelectors("[{}]") }).isIn, "an empty selector selects all");
});

Deno.test("a wrong selector is refused with its field, its value and what was expected", () => {
  const refused: [string, RegExp][] = [
    ["a: 1", /the list: got \{"a":1\}, expected a list/],
    ["- pods: {}", /\[0\]\.pods: got \{\}, expected no such field/],
    [
      "- podSelector: { matchExpressions: [{ key: a, operator: in }] }",
      /\[0\]\.podSelector\.matchExpressions\[0\]\.operator: got "in", expected one of In/,
    ],
    ["- podSelector: { matchExpressions: [{ key: a, operator: In }] }", /values: got nothing, expected at least one/],
    ["- namespaceSelector: { matchLabels: { a: 1 } }", /matchLabels: got \{"a":1\}, expected texts/],
    ["- podSelector: [", /expected YAML/],
    [`# ${"x".repeat(70_000)}`, /expected at most 65536/],
  ];
  for (const [text, message] of refused) assert.throws(() => readSelectors(text), message, text);
});
