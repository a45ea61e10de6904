/** Incomplete bodies of requests, without a network. */
import assert from "node:assert/strict";
import { HeldBodies } from "../../lib/http/held_bodies.ts";

Deno.test("above the limit the oldest bodies are given up until there is room, and complete bodies make room", () => {
  const all = new HeldBodies(100);
  const gone: string[] = [];
  const begin = (name: string) => all.begin(() => gone.push(name));
  const [a, b, c] = [begin("a"), begin("b"), begin("c")];
  for (const body of [c, b, a]) body.add(30);
  assert.deepEqual([all.bytes, gone], [90, []]);
  b.release();
  b.release();
  const d = begin("d");
  d.add(40);
  assert.deepEqual([all.bytes, gone], [100, []]);
  d.add(1);
  assert.deepEqual([all.bytes, gone], [71, ["a"]]);
  d.add(40);
  assert.deepEqual([all.bytes, gone], [81, ["a", "c"]]);
});

Deno.test("a body that is too large for the whole limit goes itself, and leaves nothing behind", () => {
  const all = new HeldBodies(100);
  const gone: string[] = [];
  const only = all.begin(() => gone.push("only"));
  only.add(101);
  assert.deepEqual([all.bytes, gone], [0, ["only"]]);
  only.add(50);
  only.release();
  assert.equal(all.bytes, 0);
});
