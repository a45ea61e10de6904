import assert from "node:assert/strict";
import fc from "fast-check";
import { stringify } from "yaml";
import { joinPath } from "../../../lib/config/schema/field.ts";
import { lineOf, placeOf, places } from "../../../lib/config/yaml/locate.ts";
import { runs } from "../../properties.ts";

/** 1-based lines of paths in a text. */
function lines(text: string, ...paths: string[]): (number | undefined)[] {
  const root = places(text);
  return paths.map((path) => root && lineOf(root, path) + 1);
}

Deno.test("a field is found in blocks, lists, flows and by quoted keys", () => {
  const text = `# comment
spec:
  hosts:
  - a
  -
  - "b"
  http:
    # comment
    - name: one
      timeout: 1s
    - name: two
      headers: { request: { set: {x-y: "1",
        "z.z": "2"} } }
      note: |
        timeout: no
        more
      empty:
      timeout: x
`;
  assert.deepEqual(
    lines(
      text,
      ...["spec", "spec.hosts[0]", "spec.hosts[2]", "spec.http[0].timeout", "spec.http[1]", "spec.http[1].empty"],
      ...['spec.http[1].headers.request.set["x-y"]', 'spec.http[1].headers.request.set["z.z"]'],
      ...["spec.http[1].timeout"],
    ),
    [2, 4, 6, 10, 11, 17, 12, 13, 18],
  );
});

Deno.test("a field that is not written has the line of the object that lacks it", () => {
  assert.deepEqual(lines("a: 1\nspec:\n  b:\n    c: 1\n", "spec.b.d.e", "spec.http[3]", "none"), [3, 2, 1]);
});

Deno.test("both spellings, JSON, anchors, aliases, merge keys and tags", () => {
  assert.deepEqual(lines("a: 1\nconnect_timeout: x\n", "connectTimeout"), [2]);
  assert.deepEqual(lines('{\n  "a": [\n    1,\n    {"b":\n 2}\n  ]\n}', "a[0]", "a[1]", "a[1].b"), [3, 4, 4]);
  const text = "x: &x\n  p: 1\n  q: 2\ny: *x\nz:\n  <<: *x\n  r: !!str 3\n? s\n: t\nu: 1\n";
  assert.deepEqual(lines(text, "x.q", "y", "y.p", "z.r", "z.p", "u"), [3, 4, 4, 7, 5, 10]);
});

Deno.test("a text that does not parse, or is too long, has no places", () => {
  assert.deepEqual(lines("a: [", "a"), [undefined]);
  assert.deepEqual(lines(`a: ${"x".repeat(3 * 1024 * 1024)}`, "a"), [undefined]);
  assert.deepEqual(lines("[".repeat(100_000), "a"), [undefined]);
});

Deno.test("of every tree, in blocks and in flows, each field has the line that its text has", () => {
  let count = 0;
  const marked = () => `mark${count++}`;
  const leaf = fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), fc.string());
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: "medium" },
      leaf,
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.array(tie("tree"), { maxLength: 4 }).map((values) => Object.fromEntries(values.map((v) => [marked(), v]))),
    ),
  }));
  const check = (value: unknown, text: string, path: string) => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      const at = joinPath(path, Array.isArray(value) ? Number(key) : key);
      if (!Array.isArray(value)) {
        // Each key is in the text once: the search gives its line.
        const line = text.split("\n").findIndex((one) => new RegExp(`\\b${key}\\b`).test(one)) + 1;
        assert.deepEqual(lines(text, at), [line], `${at} of\n${text}`);
      }
      check(inner, text, at);
    }
  };
  fc.assert(
    fc.property(tree, fc.integer({ min: 0, max: 2 }), (value, form) => {
      const root = { top: value };
      const text = form === 0
        ? stringify(root)
        : form === 1
        ? stringify(root, { collectionStyle: "flow", lineWidth: 30 })
        : JSON.stringify(root, null, 2);
      check(root, text, "");
    }),
    { numRuns: runs(300) },
  );
});

Deno.test("a value has its column; a value that begins on another line has its key's column", () => {
  const columns = (text: string, ...paths: string[]) => paths.map((path) => placeOf(places(text)!, path).column);
  assert.deepEqual(
    columns(
      "spec:\n  a: 1\n  list:\n    - x\n    - b:   2 # no\n  flow: { c: [ 3, four ] }\n",
      "spec",
      "spec.a",
      "spec.list",
      "spec.list[0]",
      "spec.list[1].b",
      "spec.flow.c",
      "spec.flow.c[1]",
      "spec.none",
    ),
    [1, 6, 3, 7, 12, 14, 19, 1],
  );
  assert.deepEqual(columns('{\n  "a": "x",\n  "b":\n  2 }', "a", "b"), [8, 3]);
});
