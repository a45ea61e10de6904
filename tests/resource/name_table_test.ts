import assert from "node:assert/strict";
import { InternedNames } from "../../lib/resource/names.ts";
import { WireError } from "../../lib/resource/protowire.ts";

/** Names as field 3 of a message. */
function run(names: readonly string[]): Uint8Array {
  return new Uint8Array(names.flatMap((name) => [26, name.length, ...new TextEncoder().encode(name)]));
}

const many = (prefix: string) => Array.from({ length: 500 }, (_, i) => `${prefix}-cluster-${i}`);

Deno.test("runs of the same names give the same set, short and long, however many others come between", () => {
  const table = new InternedNames();
  const long = table.decode(run(many("a")));
  const short = table.decode(run(["a", "b"]));
  assert.deepEqual([...long].sort(), many("a").sort());
  // Of the same length as the first list, and more lists than the table keeps for comparing.
  for (const prefix of "bcdefgh") assert.ok(table.decode(run(many(prefix))).equals(table.of(many(prefix))));
  assert.equal(table.decode(run(many("a"))), long);
  assert.equal(table.decode(run(many("a").reverse())), long, "the order means nothing");
  assert.equal(table.decode(run(["b", "a"])), short);
});

Deno.test("a long run is copied when it comes: its buffer may be used again", () => {
  const table = new InternedNames();
  const bytes = run(many("a"));
  const first = table.decode(bytes);
  bytes.set(run(many("b")));
  assert.equal(table.decode(bytes), table.of(many("b")));
  assert.equal(table.decode(run(many("a"))), first);
});

Deno.test("a run that is cut is refused, also where it begins like one that is known", () => {
  const table = new InternedNames();
  const bytes = run(many("a"));
  table.decode(bytes);
  assert.throws(() => table.decode(bytes.subarray(0, bytes.length - 1)), WireError);
});
