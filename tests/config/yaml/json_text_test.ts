/** JSON in a YAML file is read as JSON: the same values and places, without the work of the full parser. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { places, type YamlPlace, yamlPlaces } from "../../../lib/config/yaml/locate.ts";
import { parseFull, parseYaml } from "../../../lib/config/yaml/parse.ts";
import { NOT_JSON, parseJsonText } from "../../../lib/config/yaml/json_text.ts";
import { runs } from "../../properties.ts";

type Shown = readonly [line: number, column: number, inside: readonly (readonly [string, Shown])[]];

function shown({ line, column, inside }: YamlPlace): Shown {
  return [line, column, [...inside].map(([name, place]) => [name, shown(place)])];
}

const leaf = fc.oneof(
  fc.constantFrom(
    null,
    true,
    false,
    0,
    -1.5,
    1e21,
    1e-7,
    "",
    "a",
    'say "no"',
    "back\\",
    "{[,:]}",
    "ü",
    "🙂",
    "a: b # c",
  ),
  fc.string(),
  fc.integer(),
);
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 5 },
    leaf,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom("a", "b", "x.y/z", "", 'q"'), fc.string()), tie("value"), { maxKeys: 4 }),
  ),
})).value.filter((value) => typeof value === "object" && value !== null);

Deno.test("the fast reader of JSON finds the same values and places as the full parser, in one line and in many", () => {
  let own = 0;
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 1, 2), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent) + "\n";
      const full = parseFull(text);
      if (parseJsonText(text) !== NOT_JSON) own++;
      assert.deepEqual("tree" in full, "tree" in parseYaml(text));
      if ("tree" in full) assert.deepEqual(parseYaml(text), full);
      const [found, wanted] = [places(text), yamlPlaces(text)];
      assert.deepEqual(found && shown(found), wanted && shown(wanted), text);
    }),
    { numRuns: runs(400) },
  );
  assert.ok(own > 200, `${own} texts were read as JSON`);
});

// A key apart from its colon is JSON, but not YAML: an answer proves that the parser of YAML was not asked.
const APART = '{"a"\n: {"b"\n: [1, {"c": 2}]}}';

Deno.test("the parser of YAML is not asked about a text that is JSON, neither for its values nor for its places", () => {
  assert.ok("problem" in parseFull(APART));
  assert.equal(yamlPlaces(APART), undefined);
  assert.deepEqual(parseYaml(APART), { tree: { a: { b: [1, { c: 2 }] } } });
  assert.equal(places(APART)?.inside.get("a")?.inside.get("b")?.inside.get("1")?.inside.get("c")?.column, 13);
});

const YAML_DECIDES: Readonly<Record<string, string>> = {
  "a key that is written twice": '{"a": 1, "a": 2}',
  "a key that is written twice, deep inside": '[{"x": [{"a": {"b": 1, "c": 2, "\\u0062": 3}}]}]',
  "a merge key": '{"<<": {"a": 1}}',
  "a comment": '{"a": 1} # one',
  "a key without quotation marks": "{a: 1}",
  "a template": '{{ include "a" . }}',
  "a control character": '{"a": "\u0080"}',
  "half a character": '{"a": "\ud800"}',
  "a tab": '{\t"a": 1}',
  "a comma at the end": '{"a": 1,}',
  "no end": '{"a": 1',
  "a second document": '{"a": 1}\n...\n',
};

for (const [what, text] of Object.entries(YAML_DECIDES)) {
  Deno.test(`the parser of YAML decides about ${what}`, () => {
    assert.equal(parseJsonText(text), NOT_JSON);
    const [own, full] = [parseYaml(text), parseFull(text)];
    assert.deepEqual(own, full);
  });
}

Deno.test("the bounds of YAML hold for JSON", () => {
  for (const text of ["[".repeat(100) + "]".repeat(100), '{"__proto__": 1}', "[1e999]"]) {
    assert.ok("problem" in parseYaml(text), text);
  }
});
