import assert from "node:assert/strict";
import { parseJson, parseYaml } from "../../../lib/config/yaml/parse.ts";

function reason(text: string): string {
  const parsed = parseYaml(text);
  return "problem" in parsed ? parsed.problem.reason : "";
}

/** Texts refused by a bound. Without the bound, parsing takes minutes or never ends. */
const HOSTILE: readonly (readonly [string, string, RegExp])[] = [
  ["an alias bomb", bomb(), /more than 500000 values/],
  ["an anchor that holds itself", "a: &x [*x]", /nested/],
  ["an anchor that holds itself in a map", "a: &x {b: {c: *x}}", /nested/],
  ["a hundred thousand brackets", "[".repeat(100_000), /nested/],
  ["deep block nesting", Array.from({ length: 1500 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n"), /nested/],
  ["deep lists on one line", `a:\n ${"- ".repeat(500_000)}b`, /nested/],
  ["__proto__ as a key", '"__proto__": {polluted: true}', /__proto__/],
  ["__proto__ deep inside", "a: [{__proto__: {b: c}}]", /__proto__/],
  ["__proto__ by merging", "a: &x {__proto__: {b: c}}\nd: {<<: *x}", /__proto__/],
  ["a key twice", "a: 1\nb: 2\na: 3", /duplicated mapping key/],
  ["three million characters", `a: ${"b".repeat(3_000_000)}`, /characters/],
  ["a number that JSON has not", "a: .inf", /Infinity/],
  ["an unfinished quote", 'a: "b', /quoted|end of/],
  ["a bad indentation", "a:\n  b: 1\n c: 2", /./],
  ["two million quotes", `é: ${'"'.repeat(2_000_000)}`, /./],
  ["a million items", `- é\n${"- a\n".repeat(500_000)}`, /more than 500000 values/],
  ["a million flow items", `[é${",a".repeat(1_000_000)}]`, /more than 500000 values/],
  ["two million apostrophes, then more", `é: ${"'".repeat(2_000_000)}x`, /./],
];

function bomb(): string {
  const levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"];
  for (let level = 1; level < 10; level++) {
    levels.push(`a${level}: &a${level} [${new Array(9).fill(`*a${level - 1}`).join(", ")}]`);
  }
  return levels.join("\n");
}

for (const [name, text, expected] of HOSTILE) {
  Deno.test({
    name: `refused: ${name}`,
    permissions: "none",
    fn() {
      assert.match(reason(text), expected);
    },
  });
}

Deno.test({
  name: "fifty thousand quoted keys are parsed",
  permissions: "none",
  fn() {
    const keys = Array.from({ length: 50_000 }, (_, index) => `'k${index}': é`).join("\n");
    const parsed = parseYaml(keys);
    assert.ok("tree" in parsed);
  },
});

Deno.test({
  name: "the prototype of parsed objects cannot be reached",
  permissions: "none",
  fn() {
    parseYaml("__proto__: {polluted: 1}");
    parseJson('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}');
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    assert.ok("problem" in parseJson('{"__proto__": {}}'));
  },
});

Deno.test({
  name: "anchors, merge keys and block scalars work as users know them",
  permissions: "none",
  fn() {
    const text = "base: &b {a: 1, b: 2}\nx:\n  <<: *b\n  b: 3\ny: *b\nz: |\n  one\n  two\n";
    const parsed = parseYaml(text);
    assert.ok("tree" in parsed);
    assert.deepEqual(parsed.tree, { base: { a: 1, b: 2 }, x: { a: 1, b: 3 }, y: { a: 1, b: 2 }, z: "one\ntwo\n" });
  },
});

Deno.test({
  name: "a syntax problem has its line",
  permissions: "none",
  fn() {
    const parsed = parseYaml("a: 1\nb: [\nc: d\n");
    assert.ok("problem" in parsed && parsed.problem.line > 0);
    const json = parseJson('{\n "a": 1,\n b\n}');
    assert.ok("problem" in json && json.problem.line === 2);
  },
});
