import assert from "node:assert/strict";
import { collectYoung, compactLargeHeap, giveMemoryBack } from "../../../lib/kernel/program/memory.ts";

const MB = 1024 * 1024;

Deno.test("a large heap is compacted; a small heap and a heap that would take more than a second are left alone; an engine without the function is not an error", () => {
  const asked: unknown[] = [];
  const engine = { gc: (how: unknown) => void asked.push(how) };
  giveMemoryBack(10 * MB, undefined, engine);
  assert.deepEqual(asked, []);
  giveMemoryBack(100 * MB, undefined, engine);
  assert.deepEqual(asked, [{ type: "major", flavor: "last-resort" }]);
  giveMemoryBack(100 * MB, undefined, {});
  giveMemoryBack(10 * MB, 10 * MB, engine);
  assert.equal(asked.length, 2, "a smaller one where that is asked for");
  giveMemoryBack(201 * MB, undefined, engine);
  assert.equal(asked.length, 2, "some 4 ms for each MB");
});

Deno.test("while nobody waits, the heap that would take more than a second is compacted, and no other", () => {
  const asked: unknown[] = [];
  const engine = { gc: (how: unknown) => void asked.push(how) };
  compactLargeHeap(200 * MB, engine);
  assert.deepEqual(asked, []);
  compactLargeHeap(201 * MB, engine);
  assert.deepEqual(asked, [{ type: "major", flavor: "last-resort" }]);
  compactLargeHeap(201 * MB, {});
});

Deno.test("young garbage is collected alone, and an engine without the function is not an error", () => {
  const asked: unknown[] = [];
  collectYoung({ gc: (how: unknown) => void asked.push(how) });
  assert.deepEqual(asked, [{ type: "minor" }]);
  collectYoung({});
});
