import assert from "node:assert/strict";
import fc from "fast-check";
import { ServiceAddresses } from "../../../lib/registry/service_entry/service_addresses.ts";
import { addressesOfSlot, slotOfAddress, SLOTS } from "../../../lib/registry/allocation/allocate.ts";
import type { ServiceKey } from "../../../lib/registry/types.ts";

const key = (n: number): ServiceKey => `ns/${n}.example.com`;
const pair = (slot: number) => addressesOfSlot(slot);

function settled(change: (addresses: ServiceAddresses) => void): ServiceAddresses {
  const addresses = new ServiceAddresses();
  change(addresses);
  addresses.settle();
  return addresses;
}

Deno.test("each slot has two addresses that lead back to the slot; other addresses lead to no slot", () => {
  for (let slot = 0; slot < SLOTS; slot += 97) {
    for (const address of pair(slot)) assert.equal(slotOfAddress(address), slot, address);
  }
  for (
    const other of ["240.240.1.0", "240.240.1.255", "240.241.1.1", "10.0.0.1", "2001:2::f0f1:1", "2001:2::f0f0:100"]
  ) {
    assert.equal(slotOfAddress(other), undefined, other);
  }
});

Deno.test("what a status assigns holds, in the ranges and out of them", () => {
  const addresses = settled((all) => {
    all.want(key(1), 5, pair(7));
    all.want(key(2), 5, ["198.18.0.9"]);
  });
  assert.deepEqual(addresses.addresses(key(1)), pair(7));
  assert.deepEqual(addresses.addresses(key(2)), ["198.18.0.9"]);
});

Deno.test("an address that a status assigns is given to no other service, be it as old as it may", () => {
  const before = settled((all) => all.want(key(1), 0, undefined));
  const wanted = before.addresses(key(1));
  const after = settled((all) => {
    all.want(key(1), 0, undefined);
    all.want(key(2), 9, wanted);
  });
  assert.deepEqual(after.addresses(key(2)), wanted);
  assert.notDeepEqual(after.addresses(key(1)), wanted);
  assert.equal(after.addresses(key(1)).length, 2);
});

Deno.test("writing into a status what is served changes nothing", () => {
  const addresses = settled((all) => {
    for (let n = 0; n < 500; n++) all.want(key(n), n, undefined);
  });
  const served = Array.from({ length: 500 }, (_, n) => addresses.addresses(key(n)));
  for (let n = 0; n < 500; n++) {
    addresses.want(key(n), n, served[n]);
    addresses.settle();
  }
  for (let n = 0; n < 500; n++) assert.deepEqual(addresses.addresses(key(n)), served[n]);
});

Deno.test("of two services with one address the older keeps it, and the other gets one of its own", () => {
  const addresses = settled((all) => {
    all.want(key(1), 2, pair(7));
    all.want(key(2), 1, pair(7));
  });
  assert.deepEqual(addresses.addresses(key(2)), pair(7));
  assert.equal(addresses.addresses(key(1)).some((one) => pair(7).includes(one)), false);
  assert.equal(addresses.addresses(key(1)).length, 2);
  addresses.unwant(key(2));
  assert.deepEqual([...addresses.settle()].sort(), [key(1), key(2)]);
  assert.deepEqual(addresses.addresses(key(1)), pair(7), "what its status says holds again");
});

Deno.test("an address that a user wrote is taken from a status, and given back when it is written no more", () => {
  const addresses = settled((all) => {
    all.want(key(1), 1, pair(7));
    all.write([pair(7)[1]!, "10.0.0.0/8"]);
  });
  assert.equal(addresses.addresses(key(1)).some((one) => pair(7).includes(one)), false);
  addresses.unwrite([pair(7)[1]!, "10.0.0.0/8"]);
  addresses.settle();
  assert.deepEqual(addresses.addresses(key(1)), pair(7));
});

Deno.test("taken addresses count as wanted addresses, so that an exhausted range is visible", () => {
  const addresses = settled((all) => {
    for (let slot = 0; slot < SLOTS; slot++) all.write([pair(slot)[0]!]);
    all.want(key(1), 1, undefined);
  });
  assert.deepEqual(addresses.addresses(key(1)), []);
  assert.deepEqual(addresses.counts, { wanted: SLOTS + 1, available: SLOTS });
});

const step = fc.record({
  n: fc.nat(6),
  action: fc.constantFrom("want", "assigned", "unwant", "write"),
  slot: fc.nat(4),
  age: fc.nat(2),
});

Deno.test("for any order of changes, the addresses depend only on the final set, and each service has its own", () => {
  fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
    const all = new ServiceAddresses();
    const wanting = new Map<number, { readonly age: number; readonly slot: number | undefined }>();
    const written = new Map<number, number>();
    for (const { n, action, slot, age } of steps) {
      if (action === "unwant") {
        all.unwant(key(n));
        wanting.delete(n);
      } else if (action === "write") {
        const was = written.get(n);
        if (was !== undefined) all.unwrite([pair(was)[0]!]);
        all.write([pair(slot)[0]!]);
        written.set(n, slot);
      } else {
        const assigned = action === "assigned" ? slot : undefined;
        all.want(key(n), age, assigned === undefined ? undefined : pair(assigned));
        wanting.set(n, { age, slot: assigned });
      }
      if (age > 0) all.settle();
    }
    all.settle();
    const fresh = settled((one) => {
      for (const [n, { age, slot }] of wanting) one.want(key(n), age, slot === undefined ? undefined : pair(slot));
      for (const slot of written.values()) one.write([pair(slot)[0]!]);
    });
    const seen = new Set([...written.values()].map((slot) => pair(slot)[0]!));
    for (let n = 0; n <= 6; n++) {
      const found = all.addresses(key(n));
      assert.deepEqual(found, fresh.addresses(key(n)));
      assert.equal(found.length, wanting.has(n) ? 2 : 0);
      for (const address of found) {
        assert.equal(seen.has(address), false, `${address} is taken`);
        seen.add(address);
      }
    }
  }));
});
