/** Lists whose text comes in pieces. */
import fc from "fast-check";
import assert from "node:assert/strict";
import { ListScanner } from "../../../lib/orch/client/list_scanner.ts";
import { runs } from "../../properties.ts";

const encoder = new TextEncoder();

/** What the scanner hands over from a text in pieces, whose sizes repeat in turn. */
function scanned(text: string, sizes: readonly number[]) {
  const items: unknown[] = [];
  const scanner = new ListScanner((item) => items.push(item));
  const bytes = encoder.encode(text);
  // One buffer for all pieces, as for connections: the scanner must copy everything it keeps.
  const buffer = new Uint8Array(Math.max(...sizes));
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const piece = bytes.subarray(at, at + sizes[i % sizes.length]!);
    buffer.set(piece);
    scanner.push(buffer.subarray(0, piece.length));
    at += piece.length;
  }
  return { items, rest: scanner.end() };
}

const item = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue());

Deno.test("the items and the other fields of a list equal its text, whatever pieces the text comes in", () => {
  const property = fc.property(
    fc.array(item),
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
    fc.constantFrom(undefined, 2),
    (items, before, after, sizes, space) => {
      const list = { ...before, items, ...after, metadata: { resourceVersion: "1" } };
      const expected = JSON.parse(JSON.stringify({ ...list, items }));
      // `after` may bring another field `items`, with a list or with another value.
      const text = JSON.stringify(list, null, space);
      const { items: found, rest } = scanned(text, sizes);
      const left = (rest as { items: unknown }).items;
      const isList = Array.isArray(expected.items);
      assert.deepEqual(
        { ...rest as object, items: isList ? found : left },
        isList
          ? { ...expected, items: expected.items.filter((one: unknown) => typeof one === "object" && one !== null) }
          : expected,
      );
    },
  );
  fc.assert(property, { numRuns: runs(300) });
});

Deno.test("quotes, braces and the word items inside of items and elsewhere are text", () => {
  const list = {
    kind: "items",
    metadata: { items: [{ a: 1 }], continue: 'items":[{' },
    items: [{ 'a"}]': 'b\\"{[', items: [{ b: 1 }] }, { "": "\\" }],
  };
  const { items, rest } = scanned(JSON.stringify(list), [3]);
  assert.deepEqual([items, rest], [list.items, { ...list, items: [] }]);
});

Deno.test("an unfinished text and a malformed item are refused", () => {
  for (const text of ['{"items":[{"a":1}', '{"items":[', '{"items":[{"a":1}]', "", '{"items":[{a}]}', "<html>"]) {
    assert.throws(() => scanned(text, [4]), SyntaxError, text);
  }
});
