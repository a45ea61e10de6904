/** The fewest suspects are found, whichever are the culprits. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { FewestSearch } from "../../lib/discovery/stand_ins/fewest.ts";

function search(count: number, culprits: ReadonlySet<number>) {
  const one = new FewestSearch(Array.from({ length: count }, (_, i) => String(i)));
  let [trials, last] = [0, ""];
  while (one.state.is === "trying") {
    const without = new Set(one.state.without.map(Number));
    assert.notEqual(last, last = one.state.without.join(), "nothing is tried twice in a row");
    one.answer(culprits.isSubsetOf(without));
    trials++;
    assert.ok(trials < 1000);
  }
  return { state: one.state, trials };
}

Deno.test("exactly the culprits are found, in about k log n trials", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.uniqueArray(fc.nat(199), { maxLength: 5 }), (count, list) => {
      const culprits = new Set(list.filter((i) => i < count));
      if (culprits.size === 0) return;
      const { state, trials } = search(count, culprits);
      assert.equal(state.is, "found");
      assert.deepEqual(state.is === "found" && state.without.map(Number).sort(), [...culprits].sort());
      assert.ok(trials <= 2 + culprits.size * (Math.ceil(Math.log2(count)) + 2), `${trials} trials`);
    }),
  );
});

Deno.test("the first suspect is tried alone", () => {
  assert.deepEqual(search(10, new Set([0])), { state: { is: "found", without: ["0"] }, trials: 1 });
});

Deno.test("that nothing helps is known after two trials", () => {
  assert.deepEqual(search(50, new Set([99])), { state: { is: "helpless" }, trials: 2 });
  assert.deepEqual(search(1, new Set([99])), { state: { is: "helpless" }, trials: 1 });
  assert.deepEqual(search(0, new Set([99])), { state: { is: "helpless" }, trials: 0 });
});
