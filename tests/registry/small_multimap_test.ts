import assert from "node:assert/strict";
import fc from "fast-check";
import { SmallMultimap } from "../../lib/registry/small_multimap.ts";

Deno.test("it behaves as a map of sets does", () => {
  const step = fc.record({ key: fc.nat({ max: 3 }), value: fc.constantFrom("a", "b", "c"), add: fc.boolean() });
  fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
    const small = new SmallMultimap<number, string>();
    const plain = new Map<number, Set<string>>();
    for (const { key, value, add } of steps) {
      const set = plain.get(key) ?? new Set();
      if (add) {
        small.add(key, value);
        plain.set(key, set.add(value));
      } else {
        small.delete(key, value);
        if (set.delete(value) && set.size === 0) plain.delete(key);
      }
      for (let key = 0; key < 4; key++) assert.deepEqual(small.get(key), [...plain.get(key) ?? []]);
      assert.deepEqual(new Map(small.entries()), new Map([...plain].map(([key, set]) => [key, [...set]])));
    }
  }));
});
