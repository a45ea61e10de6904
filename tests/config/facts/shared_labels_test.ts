import assert from "node:assert/strict";
import { sharedLabels } from "../../../lib/config/facts/shared_labels.ts";
import { fact, manifest } from "./manifests.ts";

/** A pod with these labels and annotations. */
const pod = (name: string, labels: Record<string, string>, annotations: Record<string, string> = {}) =>
  fact(manifest("Pod", "shop", name, { metadata: { labels, annotations }, spec: { containers: [] } }));

Deno.test("objects with equal labels and annotations have the same sets of them, and other objects have their own", () => {
  const captured = { "ambient.istio.io/redirection": "enabled", note: "x" };
  const a = pod("a", { app: "cart", version: "v1" }, captured);
  const b = pod("b", { app: "cart", version: "v1" }, captured);
  const c = pod("c", { app: "cart", version: "v2" });
  assert.ok(a.kind === "Pod" && b.kind === "Pod" && c.kind === "Pod");
  assert.equal(a.spec.labels, b.spec.labels);
  assert.equal(a.meta.labels, b.meta.labels);
  assert.equal(a.meta.annotations, b.meta.annotations);
  assert.equal(a.spec.annotations, b.spec.annotations);
  assert.deepEqual(a.spec.annotations, { "ambient.mesh.io/redirection": "enabled" });
  assert.deepEqual(c.spec.labels, { app: "cart", version: "v2" });
  assert.deepEqual([a.origin, b.origin].map((one) => one.from === "derived" ? [] : one.istioKeys), [
    ["ambient.mesh.io/redirection"],
    ["ambient.mesh.io/redirection"],
  ]);
});

Deno.test("sets that differ in a single key, in a single value or by one entry are never one set", () => {
  const sets = [{ a: "1" }, { b: "1" }, { a: "2" }, { a: "1", b: "1" }, {}, { a: "1", b: "2" }, { a: "" }, {
    a: "1\0b\0" + "1",
  }];
  const shared = sets.map((set) => sharedLabels({ ...set }));
  assert.deepEqual(shared, sets);
  assert.equal(new Set(shared).size, sets.length);
});

Deno.test("a long set is not remembered", () => {
  const long = () => ({ note: "x".repeat(2000) });
  assert.notEqual(sharedLabels(long()), sharedLabels(long()));
  assert.deepEqual(sharedLabels(long()), long());
});

Deno.test("the sets of 40,000 pods of 4,000 Deployments are few, although the pods of a Deployment come far apart", () => {
  const seen = new Set(
    Array.from({ length: 40_000 }, (_, i) => sharedLabels({ app: `svc-${i % 4000}`, version: "v1" })),
  );
  assert.ok(seen.size <= 4000, `${seen.size} sets`);
});
