import assert from "node:assert/strict";
import fc from "fast-check";
import { fittingLine, MAX_LINE_BYTES } from "../../../lib/kernel/log/fitting.ts";
import { consoleLine, jsonLine, type Line } from "../../../lib/kernel/log/format.ts";
import { runs } from "../../properties.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const line = (message: string, fields: Line["fields"] = undefined): Line => ({
  ...{ time: 0, level: "info", scope: "default", message, fields, caller: undefined, stack: undefined },
});
const json = (one: Line) => encoder.encode(jsonLine(one));

Deno.test("a line that fits is written unchanged, also a line of exactly the greatest length", () => {
  const usual = line("a pod gets its proxy", { pod: "a".repeat(5000), list: [1, 2, 3] });
  assert.deepEqual(fittingLine(usual, json), json(usual));
  const room = MAX_LINE_BYTES - json(line("")).length;
  assert.equal(fittingLine(line("x".repeat(room)), json).length, MAX_LINE_BYTES);
});

Deno.test("a text of a megabyte in a message, a field, a list or an object makes no line of more than 8 kB, and the line gives the text's length", () => {
  const huge = "a".repeat(1_000_000);
  const written = decoder.decode(fittingLine(line(huge, { huge, list: [huge], object: { [huge]: huge } }), json));
  assert(written.length <= MAX_LINE_BYTES);
  const read = JSON.parse(written);
  assert.match(read.msg, /^a+\.\.\. \(1000000 characters\)$/);
  assert.match(read.huge, /\(1000000 characters\)$/);
});

Deno.test("any line, in both formats, is at most 8 kB, and JSON stays JSON", () => {
  const text = fc.tuple(fc.string({ unit: "binary", maxLength: 20 }), fc.nat(3000)).map(([one, n]) => one.repeat(n));
  const value = fc.oneof(
    text,
    fc.array(text, { maxLength: 50 }),
    fc.dictionary(text, text, { maxKeys: 30 }),
    fc.bigInt(),
  );
  fc.assert(
    fc.property(text, fc.dictionary(fc.string(), value, { maxKeys: 30 }), (message, fields) => {
      const bytes = fittingLine(line(message, fields), json);
      assert(bytes.length <= MAX_LINE_BYTES);
      JSON.parse(decoder.decode(bytes));
      const console_ = fittingLine(line(message, fields), (one) => encoder.encode(consoleLine(one)));
      assert(console_.length <= MAX_LINE_BYTES);
    }),
    { numRuns: runs(50) },
  );
});
