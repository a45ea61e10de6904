/** Copies of a map are independent maps, and share their common entries. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { LayeredMap } from "../../lib/incremental/layered_map.ts";
import { runs } from "../properties.ts";

const key = fc.integer({ min: 0, max: 20 });

type Step =
  | { readonly do: "set"; readonly map: number; readonly key: number; readonly value: number }
  | { readonly do: "delete"; readonly map: number; readonly key: number }
  | { readonly do: "copy"; readonly map: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("set" as const), map: fc.nat(), key, value: fc.nat(3) }),
  fc.record({ do: fc.constant("delete" as const), map: fc.nat(), key }),
  fc.record({ do: fc.constant("copy" as const), map: fc.nat() }),
);

Deno.test("after any steps each copy has the entries of an independent map", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const maps = [{ layered: new LayeredMap<number, number>(), plain: new Map<number, number>() }];
      for (const one of steps) {
        const { layered, plain } = maps[one.map % maps.length]!;
        if (one.do === "copy") maps.push({ layered: new LayeredMap(layered), plain: new Map(plain) });
        else if (one.do === "set") layered.set(one.key, one.value) && plain.set(one.key, one.value);
        else assert.equal(layered.delete(one.key), plain.delete(one.key));
      }
      for (const { layered, plain } of maps) {
        assert.equal(layered.size, plain.size);
        assert.deepEqual([...layered].sort(([a], [b]) => a - b), [...plain].sort(([a], [b]) => a - b));
        for (let at = 0; at <= 20; at++) assert.equal(layered.get(at), plain.get(at));
      }
    }),
    { numRuns: runs(300) },
  );
});

Deno.test("400 copies of 10,000 entries that differ in five hold five each", () => {
  let map = new LayeredMap<number, string>();
  for (let i = 0; i < 10_000; i++) map.set(i, "common");
  const copies = [map];
  for (let copy = 0; copy < 400; copy++) {
    // Each copy is made of the copy before, reverts the changes of that copy, and has its own changes.
    map = new LayeredMap(map);
    for (let i = 0; i < 5; i++) map.set(5 * (copy - 1) + i, "common").set(5 * copy + i, "own");
    copies.push(map);
  }
  const own = copies.reduce((sum, { ownSize }) => sum + ownSize, 0);
  assert.ok(own <= 400 * 10, `${own} entries of their own`);
  assert.equal(copies.at(-1)!.get(5 * 399), "own");
  assert.equal(copies.at(-1)!.get(5 * 398), "common");
});

Deno.test("a copy of which most is its own keeps no old values alive", () => {
  const first = new LayeredMap<number, number>();
  for (let i = 0; i < 100; i++) first.set(i, 0);
  const copy = new LayeredMap(first);
  for (let i = 0; i < 60; i++) copy.set(i, 1);
  assert.equal(copy.ownSize, 100);
  assert.equal(copy.size, 100);
  assert.deepEqual([copy.get(0), copy.get(99), first.get(0)], [1, 0, 0]);
});
