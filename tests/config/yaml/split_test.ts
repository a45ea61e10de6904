import assert from "node:assert/strict";
import fc from "fast-check";
// @ts-types="npm:@types/js-yaml@4.0.9"
import { CORE_SCHEMA, loadAll } from "js-yaml";
import { documentText, splitDocuments } from "../../../lib/config/yaml/split.ts";
import { runs } from "../../properties.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function cut(text: string): [number, string][] {
  const bytes = encode(text);
  return splitDocuments(bytes).map((range) => [range.line, documentText(bytes, range)]);
}

const TABLE: readonly (readonly [string, string, readonly (readonly [number, string])[]])[] = [
  ["one document", "a: 1\n", [[1, "a: 1\n"]]],
  ["several", "a: 1\n---\nb: 2\n--- \nc: 3", [[1, "a: 1\n"], [3, "b: 2\n"], [5, "c: 3"]]],
  ["empty ones are left out", "---\n\n# c\n---\n---\na: 1\n---\n", [[6, "a: 1\n"]]],
  ["blank and comment lines before content do not count", "\n# c\n\na: 1\n# d\n", [[4, "a: 1\n# d\n"]]],
  ["an indented marker inside a block scalar is text", "a: |\n  ---\n  x\n", [[1, "a: |\n  ---\n  x\n"]]],
  ["dashes that go on are no marker", "a: 1\n----\n---x\n", [[1, "a: 1\n----\n---x\n"]]],
  ["the end marker", "a: 1\n...\nb: 2\n", [[1, "a: 1\n"], [3, "b: 2\n"]]],
  ["text on the marker's line", "--- {a: 1}\n---  # c\nb: 2\n", [[1, "--- {a: 1}\n"], [3, "b: 2\n"]]],
  ["directives stay with their document", "%YAML 1.2\n---\na: 1\n---\nb: 1\n", [[1, "%YAML 1.2\n---\na: 1\n"], [
    5,
    "b: 1\n",
  ]]],
  ["carriage returns", "a: 1\r\n---\r\nb: 2\r\n", [[1, "a: 1\r\n"], [3, "b: 2\r\n"]]],
  ["a byte order mark", "\ufeffa: 1\n", [[1, "a: 1\n"]]],
  ["nothing", "", []],
];

for (const [name, text, expected] of TABLE) {
  Deno.test({ name: `cutting: ${name}`, permissions: "none", fn: () => assert.deepEqual(cut(text), expected) });
}

Deno.test({
  name: "bytes that are not UTF-8 are refused",
  permissions: "none",
  fn() {
    const bytes = new Uint8Array([97, 58, 32, 0xff]);
    assert.throws(() => splitDocuments(bytes).map((range) => documentText(bytes, range)), TypeError);
  },
});

Deno.test({
  name: "cutting agrees with the YAML parser on the number and the contents of documents",
  permissions: "none",
  fn() {
    const line = fc.constantFrom(
      "a: 1",
      "b:",
      "  c: 2",
      "---",
      "--- ",
      "...",
      "# x",
      "",
      "d: |",
      "  ---",
      "- e",
      "--- # y",
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const text = lines.join("\n");
        const load = (text: string) => loadAll(text, null, { schema: CORE_SCHEMA }).filter((value) => value ?? false);
        let whole: unknown[];
        try {
          whole = load(text);
        } catch {
          return; // Invalid YAML is not compared.
        }
        assert.deepEqual(cut(text).flatMap(([, part]) => load(part)), whole);
      }),
      { numRuns: runs(2000) },
    );
  },
});
