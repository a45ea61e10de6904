import assert from "node:assert/strict";
import fc from "fast-check";
import { parseObject } from "../../lib/config/object.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import { type SelectableWorkload, SelectionIndex } from "../../lib/mesh/selection/index.ts";
import { rootReach, type SelectingKind, selectionOf } from "../../lib/mesh/selection/selection.ts";
import { inFile } from "../config/origins.ts";

const ROOT = "mesh-system";

/** How each kind writes a selector. */
const written: Readonly<Record<SelectingKind, (labels: Record<string, string>) => object>> = {
  AuthorizationPolicy: (matchLabels) => ({ selector: { matchLabels } }),
  PeerAuthentication: (matchLabels) => ({ selector: { matchLabels } }),
  ProxyConfig: (matchLabels) => ({ selector: { matchLabels } }),
  ProxyFilter: (labels) => ({ workloadSelector: { labels } }),
  RequestAuthentication: (matchLabels) => ({ selector: { matchLabels } }),
  Sidecar: (labels) => ({ workloadSelector: { labels }, egress: [{ hosts: ["*/*"] }] }),
  Telemetry: (matchLabels) => ({ selector: { matchLabels } }),
  WasmPlugin: (matchLabels) => ({ selector: { matchLabels }, url: "oci://example.com/plugin:1" }),
};

const GROUPS: Partial<Record<SelectingKind, string>> = {
  AuthorizationPolicy: "security.mesh.io/v1",
  PeerAuthentication: "security.mesh.io/v1",
  RequestAuthentication: "security.mesh.io/v1",
  ProxyConfig: "networking.mesh.io/v1beta1",
  ProxyFilter: "networking.mesh.io/v1alpha3",
  Telemetry: "telemetry.mesh.io/v1",
  WasmPlugin: "extensions.mesh.io/v1alpha1",
};

interface Written {
  readonly kind: SelectingKind;
  readonly namespace: string;
  readonly name: string;
  readonly labels?: Record<string, string>;
  readonly created?: string;
  readonly spec?: object;
}

function object({ kind, namespace, name, labels, created, spec }: Written): ConfigObject<SelectingKind> {
  const tree = {
    apiVersion: GROUPS[kind] ?? "networking.mesh.io/v1",
    kind,
    metadata: { namespace, name, ...(created ? { creationTimestamp: created } : {}) },
    spec: spec ?? written[kind](labels ?? {}),
  };
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  assert.ok(object, JSON.stringify(findings));
  return object as ConfigObject<SelectingKind>;
}

function keys(index: SelectionIndex<SelectingKind>, workload: SelectableWorkload) {
  const { root, namespace, workload: chosen } = index.select(workload);
  const names = (list: readonly ConfigObject[]) => list.map(({ meta }) => meta.name);
  return { root: names(root), namespace: names(namespace), workload: names(chosen) };
}

Deno.test("a workload gets the objects of its namespace whose labels it has, and objects without labels, the oldest first", () => {
  const index = new SelectionIndex<SelectingKind>(ROOT);
  const kind = "AuthorizationPolicy";
  index.update([], [
    object({ kind, namespace: "a", name: "late", labels: { app: "x" }, created: "2024-02-01T00:00:00Z" }),
    object({ kind, namespace: "a", name: "early", labels: { tier: "1", app: "x" }, created: "2024-01-01T00:00:00Z" }),
    object({ kind, namespace: "a", name: "more", labels: { app: "x", tier: "2" } }),
    object({ kind, namespace: "a", name: "all" }),
    object({ kind, namespace: "b", name: "elsewhere", labels: { app: "x" } }),
  ]);
  assert.deepEqual(keys(index, { namespace: "a", labels: { app: "x", tier: "1" } }), {
    root: [],
    namespace: ["all"],
    workload: ["early", "late"],
  });
});

Deno.test("labels in the root namespace select workloads of every namespace for policies, and of no other namespace for a namespace's defaults", () => {
  for (const kind of Object.keys(written) as SelectingKind[]) {
    const index = new SelectionIndex<SelectingKind>(ROOT);
    const all = object({ kind, namespace: ROOT, name: "all" });
    // A Sidecar of the root namespace may have no selector at all.
    const chosen = kind === "Sidecar" ? [] : [object({ kind, namespace: ROOT, name: "chosen", labels: { app: "x" } })];
    assert.deepEqual(index.update([], [all, ...chosen]), new Set(["*"]));
    const reaches = rootReach(kind) === "any" ? ["all", "chosen"] : ["all"];
    assert.deepEqual(keys(index, { namespace: "a", labels: { app: "x" } }).root.sort(), reaches, kind);
    assert.deepEqual(keys(index, { namespace: ROOT, labels: { app: "x" } }), {
      root: [],
      namespace: ["all"],
      workload: chosen.map(({ meta }) => meta.name),
    });
  }
});

Deno.test("an object with a target is for the target's workloads, and for no others", () => {
  const index = new SelectionIndex<SelectingKind>(ROOT);
  const targetRefs = [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "edge" }];
  index.update([], [object({ kind: "AuthorizationPolicy", namespace: "a", name: "edge-only", spec: { targetRefs } })]);
  assert.deepEqual(keys(index, { namespace: "a", labels: {}, targets: targetRefs }).workload, ["edge-only"]);
  assert.deepEqual(keys(index, { namespace: "a", labels: { app: "x" } }), { root: [], namespace: [], workload: [] });
  assert.deepEqual(keys(index, { namespace: "b", labels: {}, targets: targetRefs }).workload, []);
});

const EDGE = { group: "gateway.networking.k8s.io", kind: "Gateway", name: "edge" };
const kind = fc.constantFrom<SelectingKind>("AuthorizationPolicy", "PeerAuthentication", "Sidecar");
const labels = fc.constantFrom<Record<string, string>>({}, { app: "x" }, { app: "y" }, { app: "x", tier: "1" });
const written$ = fc.record({
  kind,
  namespace: fc.constantFrom("a", "b", ROOT),
  name: fc.constantFrom("one", "two", "three"),
  labels,
  created: fc.constantFrom("2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z"),
  isForEdge: fc.boolean(),
}).map((w) => {
  if (w.kind === "AuthorizationPolicy" && w.isForEdge) return { ...w, spec: { targetRefs: [EDGE] } };
  return w.kind === "Sidecar" && w.namespace === ROOT ? { ...w, labels: {} } : w;
});
const workloads: readonly SelectableWorkload[] = ["a", "b", ROOT].flatMap((namespace) => [
  ...[{}, { app: "x" }, { app: "x", tier: "1", other: "z" }].map((labels) => ({ namespace, labels })),
  { namespace, labels: { app: "x" }, targets: [EDGE] },
  { namespace, labels: { app: "x" }, ofWaypoint: [{ ...EDGE, namespace: "a" }, { ...EDGE, namespace: "b" }] },
]);

/** Sorts as the order of creation, and at the same moment as the key. */
const ageOf = ({ key, meta }: ConfigObject) => `${new Date(meta.creationTimestamp).toISOString()} ${key}`;

/** The rule, object by object. */
function isFor(object: ConfigObject<SelectingKind>, workload: SelectableWorkload): boolean {
  const { namespace, labels, targets = [], ofWaypoint } = workload;
  const { labels: wanted, targets: named } = selectionOf(object);
  const own = object.meta.namespace === namespace;
  if (ofWaypoint !== undefined) {
    return named.length > 0 && ofWaypoint.some((target) => target.namespace === object.meta.namespace);
  }
  if (named.length > 0) return own && targets.length > 0;
  if (!own && object.meta.namespace !== ROOT) return false;
  const carried = Object.entries(wanted).every(([name, value]) => labels[name] === value);
  return carried && (own || Object.keys(wanted).length === 0 || rootReach(object.kind) === "any");
}

Deno.test("after any changes, look-ups and counts equal a check of every object, the oldest comes first, and a fresh index answers alike", () => {
  const step = fc.record({ put: written$, removes: fc.boolean() });
  const batches = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 30 });
  fc.assert(fc.property(batches, (changes) => {
    const index = new SelectionIndex<SelectingKind>(ROOT);
    const there = new Map<string, ConfigObject<SelectingKind>>();
    const texts = (list: readonly ConfigObject[]) => list.map(({ key, hash }) => `${key} ${hash}`);
    const found = (of: SelectionIndex<SelectingKind>) =>
      workloads.map((workload) => Object.values(of.select(workload)).map(texts));
    for (const steps of changes) {
      const before = found(index);
      const last = new Map(steps.map(({ put, removes }) => [object(put).key, removes ? undefined : object(put)]));
      const removed = [...last.keys()].flatMap((key) => there.get(key) ?? []);
      const added = [...last.values()].filter((one) => one !== undefined);
      const namespaces = index.update(removed, added);
      for (const { key } of removed) there.delete(key);
      for (const one of added) there.set(one.key, one);
      const after = found(index);
      for (const [at, { namespace, ofWaypoint }] of workloads.entries()) {
        const isNamed = namespaces.has("*") || namespaces.has(namespace) || ofWaypoint !== undefined;
        if (!isNamed) assert.deepEqual(after[at], before[at]);
      }
    }
    const expected = new Map<string, number>();
    for (const workload of workloads) {
      const lists: readonly (readonly ConfigObject[])[] = Object.values(index.select(workload));
      for (const list of lists) assert.deepEqual(list.map(ageOf), list.map(ageOf).sort());
      const keys = lists.flat().map(({ key }) => key);
      const wanted = [...there.values()].filter((object) => isFor(object, workload)).map(({ key }) => key);
      assert.deepEqual(keys.sort(), wanted.sort());
      for (const key of wanted) expected.set(key, (expected.get(key) ?? 0) + 1);
    }
    assert.deepEqual(index.counts(workloads), expected);
    const fresh = new SelectionIndex<SelectingKind>(ROOT);
    fresh.update([], [...there.values()].reverse());
    assert.deepEqual(found(index), found(fresh));
  }));
});
