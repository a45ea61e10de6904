import assert from "node:assert/strict";
import fc from "fast-check";
import { AddressAllocator } from "../../../lib/registry/service_entry/allocate.ts";
import type { ServiceKey } from "../../../lib/registry/mod.ts";

const key = (n: number): ServiceKey => `ns/${n}.example.com`;

Deno.test("30,000 services have distinct addresses in the two ranges, without network or broadcast addresses", () => {
  const allocator = new AddressAllocator();
  for (let i = 0; i < 30_000; i++) allocator.add(key(i), 0);
  const [v4, v6] = [new Set<string>(), new Set<string>()];
  for (let i = 0; i < 30_000; i++) {
    const [four, six] = allocator.addresses(key(i));
    assert.match(four!, /^240\.240\.(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])\.([1-9]|[1-9]\d|1\d\d|2[0-4]\d|25[0-4])$/);
    v4.add(four!);
    v6.add(six!);
  }
  assert.deepEqual([v4.size, v6.size], [30_000, 30_000]);
});

Deno.test("when all addresses are taken the youngest has none, and gets one when one is free", () => {
  const allocator = new AddressAllocator(3);
  for (let i = 0; i < 5; i++) allocator.add(key(i), i);
  assert.deepEqual([0, 1, 2, 3, 4].map((i) => allocator.addresses(key(i)).length), [2, 2, 2, 0, 0]);
  const changed = allocator.remove(key(1));
  assert.ok(changed.has(key(3)));
  assert.deepEqual([0, 1, 2, 3, 4].map((i) => allocator.addresses(key(i)).length), [2, 0, 2, 2, 0]);
});

Deno.test("addresses depend on the set of services alone, and every service that moved is told", () => {
  const step = fc.record({ n: fc.nat({ max: 11 }), at: fc.nat({ max: 2 }), remove: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom(2, 7, 13), (steps, slots) => {
      const allocator = new AddressAllocator(slots);
      const world = new Map<ServiceKey, number>();
      let seen = new Map<ServiceKey, string>();
      for (const { n, at, remove } of steps) {
        const changed = remove ? allocator.remove(key(n)) : allocator.add(key(n), at);
        if (remove) world.delete(key(n));
        else world.set(key(n), at);
        const now = new Map([...world.keys()].map((k) => [k, allocator.addresses(k).join()]));
        for (const [k, address] of now) if (seen.has(k) && seen.get(k) !== address) assert.ok(changed.has(k), k);
        seen = now;
      }
      const fresh = new AddressAllocator(slots);
      for (const [k, at] of [...world].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1))) fresh.add(k, at);
      for (const k of world.keys()) assert.deepEqual(allocator.addresses(k), fresh.addresses(k));
    }),
    { numRuns: 500 },
  );
});
