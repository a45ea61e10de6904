import assert from "node:assert/strict";
import fc from "fast-check";
import { AddressAllocator, SLOTS } from "../../../lib/registry/allocation/allocate.ts";
import type { ServiceKey } from "../../../lib/registry/types.ts";
import { runs } from "../../properties.ts";

const key = (n: number): ServiceKey => `ns/${n}.example.com`;

/** An allocator with so many services of the same age. */
function filled(services: number): AddressAllocator {
  const allocator = new AddressAllocator();
  for (let i = 0; i < services; i++) allocator.add(key(i), 0);
  allocator.settle();
  return allocator;
}

Deno.test("30,000 services have distinct addresses in the two ranges, without network or broadcast addresses", () => {
  const allocator = filled(30_000);
  const [v4, v6] = [new Set<string>(), new Set<string>()];
  for (let i = 0; i < 30_000; i++) {
    const [four, six] = allocator.addresses(key(i));
    assert.match(four!, /^240\.240\.(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])\.([1-9]|[1-9]\d|1\d\d|2[0-4]\d|25[0-4])$/);
    v4.add(four!);
    v6.add(six!);
  }
  assert.deepEqual([v4.size, v6.size], [30_000, 30_000]);
});

Deno.test("of 70,000 services as many have an address as there are, each its own", () => {
  const allocator = filled(70_000);
  const addresses = new Set<string>();
  let without = 0;
  for (let i = 0; i < 70_000; i++) {
    const [address] = allocator.addresses(key(i));
    if (address === undefined) without++;
    else addresses.add(address);
  }
  assert.deepEqual([addresses.size, without], [SLOTS, 70_000 - SLOTS]);
});

Deno.test("200,000 services cost at most 2.2 times as much as 100,000", () => {
  const [one, two] = [filled(100_000).steps, filled(200_000).steps];
  assert.ok(two <= 2.2 * one, `${one}, ${two}`);
});

Deno.test("a change costs a short walk while some slots are free, and one look at each service when no slot is free", () => {
  const cost = (allocator: AddressAllocator, change: () => void) => {
    const before = allocator.steps;
    change();
    allocator.settle();
    return allocator.steps - before;
  };
  const some = filled(60_000);
  const [came, went] = [[], []] as [number[], number[]];
  for (let i = 0; i < 100; i++) {
    came.push(cost(some, () => some.add(`ns/more-${i}.example.com`, i % 3 - 1)));
    went.push(cost(some, () => some.remove(key(i * 7))));
  }
  const mean = (list: readonly number[]) => list.reduce((a, b) => a + b) / list.length;
  assert.ok(mean(came) < 100 && mean(went) < 500, `${mean(came)}, ${mean(went)}`);
  const none = filled(100_000);
  assert.ok(cost(none, () => none.add("ns/more.example.com", -1)) < 2_000_000);
});

Deno.test("when all addresses are taken the youngest service has no address, and gets the next free address", () => {
  const allocator = new AddressAllocator(3);
  for (let i = 0; i < 5; i++) allocator.add(key(i), i);
  assert.deepEqual(allocator.settle(), new Set([key(0), key(1), key(2)]));
  assert.deepEqual([0, 1, 2, 3, 4].map((i) => allocator.addresses(key(i)).length), [2, 2, 2, 0, 0]);
  allocator.remove(key(1));
  assert.ok(allocator.settle().has(key(3)));
  assert.deepEqual([0, 1, 2, 3, 4].map((i) => allocator.addresses(key(i)).length), [2, 0, 2, 2, 0]);
});

Deno.test("addresses depend on the set of services alone, and every service that moved is reported", () => {
  const step = fc.record({
    n: fc.nat({ max: 24 }),
    at: fc.nat({ max: 2 }),
    remove: fc.boolean(),
    settle: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), fc.constantFrom(2, 7, 13, 17), (steps, slots) => {
      const allocator = new AddressAllocator(slots);
      const services = new Map<ServiceKey, number>();
      let seen = new Map<ServiceKey, string>();
      const settle = () => {
        const changed = allocator.settle();
        const now = new Map([...services.keys()].map((k) => [k, allocator.addresses(k).join()]));
        for (const [k, address] of now) assert.equal(changed.has(k), (seen.get(k) ?? "") !== address, k);
        for (const k of changed) assert.ok(services.has(k), k);
        seen = now;
      };
      for (const { n, at, remove, settle: now } of steps) {
        if (remove) {
          allocator.remove(key(n));
          services.delete(key(n));
          seen.delete(key(n));
        } else {
          allocator.add(key(n), at);
          services.set(key(n), at);
        }
        if (now) settle();
      }
      settle();
      const fresh = new AddressAllocator(slots);
      for (const [k, at] of [...services].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1))) {
        fresh.add(k, at);
        fresh.settle();
      }
      for (const k of services.keys()) assert.deepEqual(allocator.addresses(k), fresh.addresses(k));
    }),
    { numRuns: runs(1000) },
  );
});
