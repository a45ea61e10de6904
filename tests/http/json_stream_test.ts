/** Long JSON equals the text of JSON.stringify, in parts. The event loop turns between parts. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { jsonPieces, LazyList, LazyObject, longJsonResponse } from "../../lib/http/json_stream.ts";

/** The same value twice: lazy and plain. */
type Both = readonly [lazy: unknown, plain: unknown];

const value = fc.letrec<{ value: Both }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.jsonValue().map((one): Both => [one, one]),
    fc.array(tie("value"), { maxLength: 4 }).map((list): Both => [
      LazyList.of(list, ([lazy]) => lazy),
      list.map(([, plain]) => plain),
    ]),
    fc.dictionary(fc.string(), fc.option(tie("value"), { nil: undefined }), { maxKeys: 4 }).map((fields): Both => [
      new LazyObject(Object.entries(fields).map(([name, both]) => [name, both?.[0]])),
      Object.fromEntries(Object.entries(fields).map(([name, both]) => [name, both?.[1]])),
    ]),
  ),
})).value;

Deno.test("joined, the pieces are the text of the whole", () => {
  fc.assert(fc.property(value, fc.constantFrom("", "  "), ([lazy, plain], indent) => {
    assert.equal([...jsonPieces(lazy, indent, "\n")].join(""), JSON.stringify(plain, null, indent));
  }));
});

Deno.test("a short answer is one body", () => {
  const { body, parts } = longJsonResponse(LazyList.of([1, 2], (one) => one), { query: new URLSearchParams() });
  assert.equal(parts, undefined);
  assert.equal(body, "[1,2]\n");
});

Deno.test("a long answer is made while it is sent, and only as far as the client reads", async () => {
  let made = 0;
  const list = LazyList.of(Array.from({ length: 10_000 }, (_, i) => i), (i) => {
    made++;
    return `${i} ${"x".repeat(100)}`;
  });
  const { body, parts } = longJsonResponse(list, { query: new URLSearchParams() });
  assert.ok(made > 0 && made < 1000, `${made} made before the response began`);
  let text = body as string;
  for await (const part of parts!) {
    const before = made;
    text += part;
    assert.ok(part.length < 80_000);
    assert.equal(made, before);
  }
  assert.equal(made, 10_000);
  assert.equal(JSON.parse(text).length, 10_000);

  made = 0;
  const left = longJsonResponse(list, { query: new URLSearchParams() });
  for await (const _part of left.parts!) break;
  assert.ok(made < 2000, `${made} made for a client that went away`);
});
