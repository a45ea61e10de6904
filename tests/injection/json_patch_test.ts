/** A patch turns a tree into another tree, by a foreign implementation, and contains only the differences. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { applyPatch, type Operation } from "rfc6902";
import { jsonPatch } from "../../lib/injection/json_patch.ts";

function applied(from: unknown, to: unknown): unknown {
  const document = structuredClone({ root: from });
  const operations = jsonPatch({ root: from }, { root: to }) as Operation[];
  assert.deepEqual(applyPatch(document, structuredClone(operations)).filter((error) => error !== null), []);
  return document.root;
}

const key = fc.constantFrom("a", "b", "a/b", "~", "mesh.io/rev", "toString", "name");
const { tree } = fc.letrec((tie) => ({
  leaf: fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null)),
  named: fc.array(fc.record({ name: fc.constantFrom("app", "proxy", "init", "x"), value: tie("tree") }), {
    maxLength: 4,
  }),
  list: fc.array(tie("tree"), { maxLength: 3 }),
  object: fc.dictionary(key, tie("tree"), { maxKeys: 4 }),
  tree: fc.oneof({ maxDepth: 4 }, tie("leaf"), tie("named"), tie("list"), tie("object")),
}));

Deno.test("a patch makes any tree any other", () => {
  fc.assert(fc.property(tree, tree, (from, to) => {
    // Through JSON: the API applies the written text.
    const [before, after] = [from, to].map((one) => JSON.parse(JSON.stringify(one)));
    assert.deepEqual(applied(before, after), after);
    assert.deepEqual(jsonPatch(before, structuredClone(before)), []);
  }));
});

Deno.test("of lists of named elements only those that differ are in the patch, at their places", () => {
  const from = { spec: { containers: [{ name: "app", image: "a" }, { name: "old" }, { name: "audit", args: ["x"] }] } };
  const to = {
    spec: { containers: [{ name: "proxy" }, { name: "app", image: "a" }, { name: "audit", args: ["x", "y"] }] },
  };
  assert.deepEqual(jsonPatch(from, to), [
    { op: "remove", path: "/spec/containers/1" },
    { op: "add", path: "/spec/containers/0", value: { name: "proxy" } },
    { op: "replace", path: "/spec/containers/2/args", value: ["x", "y"] },
  ]);
});

Deno.test("a list whose order changed, and one with a name twice, is replaced as a whole", () => {
  const [a, b] = [{ name: "a" }, { name: "b" }];
  assert.deepEqual(jsonPatch([a, b], [b, a]), [{ op: "replace", path: "", value: [b, a] }]);
  assert.deepEqual(jsonPatch([a, a], [a]), [{ op: "replace", path: "", value: [a] }]);
});

Deno.test("fields that are undefined are absent, on either side", () => {
  assert.deepEqual(jsonPatch({ a: 1 }, { a: undefined, b: undefined }), [{ op: "remove", path: "/a" }]);
  assert.deepEqual(jsonPatch({}, { b: undefined }), []);
});
