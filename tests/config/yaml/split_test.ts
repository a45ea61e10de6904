import assert from "node:assert/strict";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import { splitDocuments } from "../../../lib/config/yaml/split.ts";

/** The YAML library looks at these whenever it parses. */
const YAML_LIBRARY = { env: ["LOG_TOKENS", "LOG_STREAM"] };

const cut = (text: string) => splitDocuments(new TextEncoder().encode(text)).map(({ text, line }) => [line, text]);

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
  Deno.test({ name: `cutting: ${name}`, permissions: YAML_LIBRARY, fn: () => assert.deepEqual(cut(text), expected) });
}

Deno.test({
  name: "bytes that are not UTF-8 are refused",
  permissions: YAML_LIBRARY,
  fn: () => assert.throws(() => splitDocuments(new Uint8Array([97, 58, 32, 0xff])), TypeError),
});

Deno.test({
  name: "cutting agrees with the YAML parser on how many documents there are and what they hold",
  permissions: YAML_LIBRARY,
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
        const all = parseAllDocuments(text, { logLevel: "silent" });
        if (!Array.isArray(all) || all.some((document) => document.errors.length > 0)) return;
        const whole = all.map((document) => document.toJS()).filter((value) => value !== null);
        const parts = cut(text).flatMap(([, part]) => {
          const documents = parseAllDocuments(String(part), { logLevel: "silent" });
          return Array.isArray(documents) ? documents.map((document) => document.toJS()) : [];
        });
        assert.deepEqual(parts.filter((value) => value !== null), whole);
      }),
      { numRuns: 2000 },
    );
  },
});
