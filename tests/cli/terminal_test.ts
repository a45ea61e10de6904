/** Text for terminals: colour on terminals alone, lines that fit, progress without a trace. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Output } from "../../lib/cli/command.ts";
import { columns, padded, shortened, shownLength, wrap } from "../../lib/cli/terminal/layout.ts";
import { progressOn } from "../../lib/cli/terminal/progress.ts";
import { plainText, safeText, styleOf } from "../../lib/cli/terminal/style.ts";
import { NO_TERMINAL, terminalOf } from "../../lib/cli/terminal/terminal.ts";

Deno.test("an output that is not a terminal has no colour and no width", () => {
  assert.deepEqual(terminalOf({ isTerminal: () => false }), NO_TERMINAL);
  assert.equal(styleOf(NO_TERMINAL)("error", "x"), "x");
});

Deno.test("colours do not count in the width, and can be removed", () => {
  const red = styleOf({ colour: true })("error", "boom");
  assert.equal(red, "\x1b[1;31mboom\x1b[0m");
  assert.deepEqual([shownLength(red), plainText(red), shownLength(padded(red, 6))], [4, "boom", 6]);
});

Deno.test("texts of others cannot steer a terminal: cursor, title, direction of writing; colours stay", () => {
  assert.equal(safeText("a\x1b[2Jb\x1b]0;t\x07c\u202ed\te\n"), "a\ufffd[2Jb\ufffd]0;t\ufffdc\ufffdd\te\n");
  assert.equal(safeText("\x1b[1;31mred\x1b[0m"), "\x1b[1;31mred\x1b[0m");
});

Deno.test("a wrapped text has the same words, and no line is too long unless a word is", () => {
  const word = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => !/\s/.test(text) && !text.includes("\x1b"));
  fc.assert(fc.property(fc.array(word, { minLength: 1 }), fc.integer({ min: 5, max: 60 }), (words, width) => {
    const wrapped = wrap(words.join(" "), width, "- ");
    assert.deepEqual(wrapped.split(/\s+/).slice(1), words);
    for (const line of wrapped.split("\n")) {
      assert.ok(shownLength(line) <= width || line.slice(2).indexOf(" ") < 0, JSON.stringify(line));
    }
  }));
});

Deno.test("columns stand below each other; a very long cell does not push the others away", () => {
  assert.deepEqual(columns([["a", "b", "c"], ["long", "", "d"]]), ["a     b  c", "long     d"]);
  const [first, second] = columns([["x".repeat(80), "y"], ["z", "y"]]);
  assert.deepEqual([first!.length, second], [83, "z  y"]);
  assert.equal(shortened("abcdef", 4), "abc…");
});

Deno.test("a row that is longer than the width is broken beside its first cell, and loses no word", () => {
  const rows = [["  rule", "no: one two three four five", "a.yaml:1"], ["  host", "yes: six", ""]];
  assert.deepEqual(columns(rows, 30), ["  rule  no: one two three four\n        five  a.yaml:1", "  host  yes: six"]);
  // A first cell that would leave too little stands alone.
  assert.deepEqual(columns([["  a long first cell", "one two three"]], 20), [
    "  a long first cell\n      one two three",
  ]);
  const word = fc.string({ minLength: 1, maxLength: 8 }).filter((text) => !/\s/.test(text) && !text.includes("\x1b"));
  const cell = fc.array(word, { minLength: 1, maxLength: 9 }).map((words) => words.join(" "));
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 1 }), { minLength: 1 }),
      fc.integer({ min: 30, max: 80 }),
      (cells, width) => {
        const text = columns(cells, width).join("\n");
        assert.deepEqual(text.split(/\s+/).filter(Boolean), cells.flat().join(" ").split(" "));
      },
    ),
  );
});

Deno.test("progress is for terminals, not too often, and its line is cleared", () => {
  const written: string[] = [];
  const output = (interactive: boolean): Output => ({
    out: () => assert.fail("progress is no output"),
    err: (text) => void written.push(text),
    terminals: { out: NO_TERMINAL, err: { interactive, width: 20, colour: false } },
  });
  let now = 0;
  const silent = progressOn(output(false), () => now += 1000);
  silent.show("unseen");
  silent.end();
  assert.deepEqual(written, []);
  now = 0;
  const shown = progressOn(output(true), () => now);
  shown.show("at once");
  now = 150;
  shown.show("a line that is much too long for this");
  shown.show("too soon");
  shown.end();
  shown.end();
  assert.deepEqual(written, ["\r\x1b[Ka line that is muc…", "\r\x1b[K"]);
});
