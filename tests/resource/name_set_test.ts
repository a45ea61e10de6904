import assert from "node:assert/strict";
import fc from "fast-check";
import { encodeResource } from "../../lib/resource/encoded.ts";
import { InternedNames } from "../../lib/resource/names.ts";
import { type ResourceSet, ResourceTable } from "../../lib/resource/set.ts";
import { runs } from "../properties.ts";

const TYPE = "type.googleapis.com/test.Type";
const names = fc.uniqueArray(fc.nat(400), { maxLength: 150 }).map((list) => list.map((i) => `r${i}`));
const contents = (set: ResourceSet) => [...set].map(({ name }) => name).sort();

Deno.test("a set of names behaves like a set under any sequence of unions and differences, and equal sets are one object", () => {
  const steps = fc.array(fc.record({ put: fc.boolean(), names }), { maxLength: 12 });
  fc.assert(
    fc.property(steps, (all) => {
      const table = new InternedNames();
      const model = new Set<string>();
      let set = table.empty;
      for (const { put, names } of all) {
        set = put ? table.union(set, table.of(names)) : table.minus(set, table.of(names));
        for (const name of names) put ? model.add(name) : model.delete(name);
        assert.deepEqual([...set].sort(), [...model].sort());
        assert.equal(set.size, model.size);
        assert.equal(set.bytes, [...model].reduce((sum, name) => sum + name.length + 64, 0));
        for (let i = 0; i < 400; i += 7) assert.equal(set.has(`r${i}`), model.has(`r${i}`));
        if (set.buckets.length === table.of(model).buckets.length) assert.equal(set, table.of(model));
      }
    }),
    { numRuns: runs(150) },
  );
});

/** Resources, some with an alias. The alias may be another resource's alias, or another resource's name. */
const resources = fc.uniqueArray(fc.tuple(fc.nat(400), fc.option(fc.nat(400))), {
  selector: ([i]) => i,
  maxLength: 300,
})
  .map((list) =>
    list.map(([i, alias]) =>
      encodeResource(TYPE, `r${i}`, new Uint8Array(1), alias === null ? {} : { aliases: [`r${alias}`] })
    )
  );

Deno.test("selecting names gives the same result in every way: name by name, bucket by bucket, or from a similar selection", () => {
  fc.assert(
    fc.property(resources, names, names, names, (held, first, added, dropped) => {
      const table = new InternedNames();
      const set = new ResourceTable().from(held);
      const near = table.of(first);
      const now = table.minus(table.union(near, table.of(added)), table.of(dropped));
      const expected = held.filter(({ name, aliases }) => [name, ...aliases].some((one) => now.has(one)));
      const sorted = expected.map(({ name }) => name).sort();
      near.select(set);
      assert.deepEqual(contents(now.selectNear(set, near, [...added, ...dropped])), sorted, "nearby");
      assert.deepEqual(contents(new InternedNames().of(now).select(set)), sorted, "anew");
      assert.equal(now.select(set), now.select(set), "remembered");
      const rest = held.map(({ name }) => name).filter((name) => !sorted.includes(name)).sort();
      assert.deepEqual(contents(now.exclude(set)), rest, "the others");
    }),
    { numRuns: runs(300) },
  );
});

Deno.test("an additional name copies one bucket, for any number of names", () => {
  const table = new InternedNames();
  const many = table.of(Array.from({ length: 10_000 }, (_, i) => `r${i}`));
  const more = table.union(many, table.of(["another"]));
  assert.equal(more.buckets.filter((bucket, i) => bucket !== many.buckets[i]).length, 1);
  assert.equal(table.minus(more, table.of(["another"])), many);
});

Deno.test("names whose hashes have the same sum are still distinguished", () => {
  const table = new InternedNames();
  // Found by search: both pairs have the same sum in the table.
  const [one, other] = collision();
  assert.notEqual(table.of(one), table.of(other));
  assert.deepEqual([...table.of(one)].sort(), one.toSorted());
  assert.deepEqual([...table.of(other)].sort(), other.toSorted());
});

/** Two pairs of names with the same sum of hashes: by the birthday rule a few names are enough. */
function collision(): [string[], string[]] {
  const table = new InternedNames();
  const bySum = new Map<number, string[]>();
  for (let i = 0;; i++) {
    const pair = [`a${i % 997}`, `b${Math.floor(i / 997)}`];
    const { hash } = table.of(pair).buckets[0]!;
    const known = bySum.get(hash);
    if (known !== undefined) return [known, pair];
    bySum.set(hash, pair);
  }
}
