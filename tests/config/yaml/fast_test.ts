import assert from "node:assert/strict";
import fc from "fast-check";
import { parseDocument, stringify } from "yaml";
import { NOT_PLAIN, parseFast } from "../../../lib/config/yaml/fast.ts";
import { ValuePool } from "../../../lib/config/schema/value_pool.ts";
import { parseFull } from "../../../lib/config/yaml/parse.ts";
import { runs } from "../../properties.ts";

/** The second witness, the library `yaml`, reads these variables at every parse. */
const WITNESS = { env: ["LOG_TOKENS", "LOG_STREAM"] };

/** js-yaml 4.1.1 takes `- -` and a line `- ` below for one list in a list; YAML has two entries of the outer list. */
const JS_YAML_FAULT = /^ *(- +)+-\s*$/m;

/**
 * An answer of the fast parser must agree with the full parser and another library. @returns whether the fast parser
 * answered
 */
function agrees(text: string): boolean {
  const fast = parseFast(text, ValuePool.small());
  if (fast === NOT_PLAIN) return false;
  const full = parseFull(text);
  assert.ok("tree" in full, `the fast parser took what the full one refuses:\n${text}`);
  if (!JS_YAML_FAULT.test(text)) assert.deepStrictEqual(fast, full.tree, text);
  const witness = parseDocument(text, { schema: "core", merge: true, logLevel: "silent" });
  assert.deepEqual(witness.errors, [], text);
  assert.deepStrictEqual(fast, witness.toJS(), text);
  return true;
}

const PLAIN: readonly (readonly [string, unknown])[] = [
  ["a: b", { a: "b" }],
  ["a: 1\nb: 1.5\nc: -3\nd: 1e3\ne: 0777\nf: 1.2.3\ng: 5.\nh: +7", {
    a: 1,
    b: 1.5,
    c: -3,
    d: 1000,
    e: 777,
    f: "1.2.3",
    g: 5,
    h: 7,
  }],
  ["a: true\nb: False\nc: ~\nd: null\ne:\nf: yes\ng: nULL", {
    a: true,
    b: false,
    c: null,
    d: null,
    e: null,
    f: "yes",
    g: "nULL",
  }],
  ["a:\n  b:\n    c: d\n  e: f\ng: h", { a: { b: { c: "d" }, e: "f" }, g: "h" }],
  ["a:\n- b\n- c: d\n  e: f\n-\n  g: h\n- - i\n  - j\nk: l", {
    a: ["b", { c: "d", e: "f" }, { g: "h" }, ["i", "j"]],
    k: "l",
  }],
  ["a:\n  - b:\n    - c\n    - d\n    e: f\n", { a: [{ b: ["c", "d"], e: "f" }] }],
  ['a: "x \\"y\\" \\n z"\nb: \'it\'\'s\'\n"c d": e', { "a": 'x "y" \n z', "b": "it's", "c d": "e" }],
  ["a: {b: c, d: [1, two, {e: f}], \"g\": 'h'}\ni: []\nj: {}", {
    a: { b: "c", d: [1, "two", { e: "f" }], g: "h" },
    i: [],
    j: {},
  }],
  ["# c\na: b # c\n\n  # d\nc: d#e\nf: g", { a: "b", c: "d#e", f: "g" }],
  ["a: http://x/y?z\nb: unix:///run/a.sock\nc: 10.0.0.1:80", {
    a: "http://x/y?z",
    b: "unix:///run/a.sock",
    c: "10.0.0.1:80",
  }],
  ["- a\n- b: c", ["a", { b: "c" }]],
  ["{a: b}", { a: "b" }],
];

for (const [text, expected] of PLAIN) {
  Deno.test({
    name: `the fast parser reads ${JSON.stringify(text)}`,
    permissions: WITNESS,
    fn() {
      assert.deepStrictEqual(parseFast(text, ValuePool.small()), expected);
      agrees(text);
    },
  });
}

const LEFT_TO_THE_FULL_PARSER = [
  "a: &x b",
  "a: *x",
  "a: !!str 1",
  "a: |\n  b",
  "a: >-\n  b",
  "a: b\n  c",
  "a: 'b\n  c'",
  "a: [b,\n  c]",
  "? a\n: b",
  "a: b: c",
  "a:\tb",
  "a: é",
  "a: 1\na: 2",
  "<<: {a: b}",
  "__proto__: 1",
  "null: 1",
  "a: 0x10",
  "a: .inf",
  "a: .5",
  "a: 1_000",
  "a: 0b11",
  "a: @b",
  "a: {b}",
  "a: [b, ]",
  "a: {b: }",
  "- a\nb: c",
  "a:\n    b: c\n  d: e",
  "a\n",
  "a: '\\x'\n b: c",
  'a: "\\x41"',
  `${"[".repeat(60)}`,
  "a: b:\n",
  "a: - b",
  "a: %b",
  "a: b\n- c",
];

for (const text of LEFT_TO_THE_FULL_PARSER) {
  Deno.test({
    name: `the fast parser gives up on ${JSON.stringify(text.slice(0, 30))}`,
    permissions: WITNESS,
    fn: () => assert.equal(parseFast(text, ValuePool.small()), NOT_PLAIN),
  });
}

const RUNS = runs(1000);

Deno.test({
  name: "fast and full parser agree on random trees in all writing styles",
  permissions: WITNESS,
  fn() {
    let answered = 0;
    const key = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_./-]{0,8}$/);
    const text = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.constantFrom(
        "true",
        "1.5",
        "a: b",
        " #c",
        "-",
        "- a",
        "*",
        "10.0.0.0/8",
        "x-y",
        "it's",
        '"',
        "null",
        "~",
        "0x1",
        "a,b",
      ),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.oneof(
          text,
          fc.integer(),
          fc.boolean(),
          fc.constant(null),
          fc.double({ noNaN: true, noDefaultInfinity: true }),
        ),
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(key, tie("tree"), { maxKeys: 4 }),
      ),
    }));
    const style = fc.record({
      indent: fc.constantFrom(2, 4),
      indentSeq: fc.boolean(),
      collectionStyle: fc.constantFrom("any", "block", "flow"),
      singleQuote: fc.constantFrom(true, false, null),
      defaultStringType: fc.constantFrom("PLAIN", "QUOTE_DOUBLE", "QUOTE_SINGLE"),
      lineWidth: fc.constantFrom(0, 80),
    });
    fc.assert(
      fc.property(fc.dictionary(key, tree, { maxKeys: 5 }), style, (value, options) => {
        if (agrees(stringify(value, options))) answered += 1;
      }),
      { numRuns: RUNS },
    );
    assert.ok(answered > RUNS / 20, `it must not give up nearly always; answered ${answered} of ${RUNS}`);
  },
});

Deno.test({
  name: "fast and full parser agree on configuration with random damage",
  permissions: WITNESS,
  fn() {
    const base = [
      "apiVersion: networking.mesh.io/v1\nkind: VirtualService\nmetadata: {name: a, namespace: b}\nspec:\n  hosts: [a.b]\n  http:\n",
      '  - match: [{headers: {x-canary: {exact: "true"}}}]\n    route: [{destination: {host: a, subset: v2}}]\n  - route:\n',
      "    - {destination: {host: a, subset: v1}, weight: 90} # c\n    - destination:\n        host: 'b'\n      weight: 10\n    timeout: 5s\n",
    ].join("");
    const damage = fc.record({
      at: fc.nat(base.length),
      cut: fc.nat(4),
      insert: fc.oneof(
        fc.constantFrom(
          "",
          " ",
          "\n",
          "  ",
          "\n  ",
          ":",
          ": ",
          "-",
          "- ",
          "#",
          " #",
          ",",
          "[",
          "]",
          "{",
          "}",
          '"',
          "'",
          "&",
          "*",
          "!",
          "|",
          "?",
          "\\",
          "a",
          "1",
          "~",
          "\n- ",
          "\n\n",
          "%",
          "@",
          "0",
          ".",
          "x: y\n",
        ),
        fc.string({ maxLength: 3 }),
      ),
    });
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 4 }), (damages) => {
        let text = base;
        for (const { at, cut, insert } of damages) text = text.slice(0, at) + insert + text.slice(at + cut);
        agrees(text);
      }),
      { numRuns: 3 * RUNS },
    );
  },
});

Deno.test({
  name: "fast and full parser agree on short random texts of YAML's own characters",
  permissions: WITNESS,
  fn() {
    const piece = fc.constantFrom(
      "a",
      "b",
      "1",
      "-",
      " ",
      "  ",
      "\n",
      ":",
      ": ",
      "- ",
      "#",
      ",",
      "[",
      "]",
      "{",
      "}",
      '"',
      "'",
      "~",
      ".",
      "0",
      "?",
      "\n  ",
      "e",
      "+",
      "x",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => void agrees(pieces.join(""))),
      { numRuns: 10 * RUNS },
    );
  },
});
