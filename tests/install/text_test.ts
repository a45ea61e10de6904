/** The text of the objects is YAML with the same content, for another reader too, and comments stand where they belong. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { parse } from "yaml";
import { parseYaml } from "../../lib/config/yaml/parse.ts";
import type { InstallData } from "../../lib/install/template/node.ts";
import { Commented, type Resolved } from "../../lib/install/template/resolved.ts";
import { yamlText } from "../../lib/install/template/text.ts";

const { tree } = fc.letrec<{ tree: InstallData }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      "",
      "true",
      "no",
      "1",
      "0x1",
      "1e3",
      "~",
      "- a",
      "a: b",
      "a #b",
      "10m",
      "2Gi",
      "a\nb",
      "a\n",
      "x\n\n y\n",
      " a",
    ),
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.array(tie("tree"), { maxLength: 3 }),
    // The key __proto__ is refused by the product's reader.
    fc.dictionary(fc.string().filter((key) => key !== "__proto__"), tie("tree"), { maxKeys: 3 }),
  ),
}));

Deno.test("whatever the data, two readers of YAML read the same data again", () => {
  fc.assert(fc.property(tree, (data) => {
    const text = yamlText({ data } as Resolved);
    const plain = JSON.parse(JSON.stringify({ data }));
    assert.deepEqual(parse(text), plain);
    assert.deepEqual(parseYaml(text), { tree: plain });
  }));
});

Deno.test("a comment stands before its object, field or list item, and is wrapped", () => {
  const long = "word ".repeat(30).trim();
  const text = yamlText(
    new Commented("head", { a: new Commented(long, 1), b: [new Commented("item", { c: "x y" }), "z"] }),
  );
  assert.deepEqual(text.split("\n"), [
    "# head",
    `# ${"word ".repeat(23).trim()}`,
    `# ${"word ".repeat(7).trim()}`,
    "a: 1",
    "b:",
    "  # item",
    '  - c: "x y"',
    "  - z",
    "",
  ]);
});
