import assert from "node:assert/strict";
import fc from "fast-check";
import { FairShares } from "../../lib/sockets/listen/fair_shares.ts";

Deno.test("the oldest item of a largest group is known, in any order of coming and going", () => {
  const step = fc.record({ group: fc.constantFrom("a", "b", "c"), add: fc.boolean(), which: fc.nat(5) });
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const shares = new FairShares<number>();
    const groups = new Map<string, number[]>([["a", []], ["b", []], ["c", []]]);
    steps.forEach(({ group, add, which }, i) => {
      const items = groups.get(group)!;
      if (add) {
        items.push(i);
        shares.add(group, i);
      } else {
        const item = items[which % Math.max(1, items.length)] ?? -1;
        groups.set(group, items.filter((one) => one !== item));
        shares.delete(group, item);
      }
      const most = Math.max(...[...groups.values()].map((one) => one.length));
      const oldest = [...groups.values()].filter((one) => one.length === most && most > 0).map(([first]) => first);
      const found = shares.oldestOfLargest;
      assert.ok(most === 0 ? found === undefined : oldest.includes(found!), `${found} of ${oldest}`);
    });
  }));
});
