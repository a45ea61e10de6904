/**
 * Stand-in addresses of services: never two alike, never a taken address, decided by the set alone, cheap to change.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  slotOfStandIn,
  STAND_IN_SLOTS,
  StandInAddresses,
  standInOfSlot,
} from "../../../lib/registry/allocation/stand_ins.ts";
import { canonicalIp, isIp } from "../../../lib/registry/address.ts";
import { runs } from "../../properties.ts";

const idOf = (n: number) => `shop/db-${n}`;

Deno.test("each slot has an address of each family that leads back to the slot, and no address is a network's first or last", () => {
  const slots = fc.integer({ min: 0, max: STAND_IN_SLOTS - 1 });
  fc.assert(fc.property(slots, (slot) => {
    const { IPv4, IPv6 } = standInOfSlot(slot);
    const [first = 0, , , last = 0] = IPv4.split(".").map(Number);
    assert.ok(first >= 241 && first <= 254 && last >= 1 && last <= 254, IPv4);
    for (const address of [IPv4, IPv6]) {
      assert.ok(isIp(address), address);
      assert.equal(canonicalIp(address), address);
      assert.equal(slotOfStandIn(address), slot);
    }
    assert.equal(
      slotOfStandIn(IPv6.toUpperCase().replace("::", ":0:0:0:0:").replace(":0:0:0:0:1:", ":0:0:0:1:")),
      slot,
    );
  }));
});

Deno.test("addresses outside of the two ranges are of no slot", () => {
  const others = ["240.240.1.1", "10.0.0.1", "255.1.1.1", "241.0.0.0", "241.0.0.255", "241.0.0.0/16", "241.1.1", "24x"];
  for (const other of [...others, "2001:2::f0f0:1", "2001:2::2:f101:1", "2001:2::1:a00:1", "2001:db8::1", "2.de"]) {
    assert.equal(slotOfStandIn(other), undefined, other);
  }
});

/** So few slots that most services want the same slot. */
const FEW = 31;

type Event = { readonly do: "want" | "unwant" | "take" | "giveBack"; readonly n: number; readonly six: boolean };

const event: fc.Arbitrary<Event> = fc.record({
  do: fc.constantFrom("want", "unwant", "take", "giveBack"),
  n: fc.nat({ max: 19 }),
  six: fc.boolean(),
});

const takenAddress = ({ n, six }: Event) => standInOfSlot(n)[six ? "IPv6" : "IPv4"];

/** The state after some events: services with a want, and the number of takers of each address. */
function after(events: readonly Event[]) {
  const wanting = new Set<number>();
  const taken: string[] = [];
  const happened: Event[] = [];
  for (const event of events) {
    const address = takenAddress(event);
    if (event.do === "want") wanting.add(event.n);
    else if (event.do === "unwant") wanting.delete(event.n);
    else if (event.do === "take") {
      if (new Set([...taken.map(slotOfStandIn), event.n]).size > 8) continue;
      taken.push(address);
    } else if (taken.includes(address)) taken.splice(taken.indexOf(address), 1);
    else continue;
    happened.push(event);
  }
  return { wanting, taken, happened };
}

function apply(standIns: StandInAddresses, event: Event): void {
  if (event.do === "want" || event.do === "unwant") standIns[event.do](idOf(event.n));
  else standIns[event.do]([takenAddress(event)]);
}

const addressesOf = (standIns: StandInAddresses) =>
  Array.from({ length: 20 }, (_, n) => standIns.addresses(idOf(n))?.IPv4);

Deno.test("after any events no two services have one address, none has a taken one, and equal sets have equal addresses", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), fc.array(fc.boolean()), fc.nat(), (events, settles, turn) => {
      const { wanting, taken, happened } = after(events);
      const standIns = new StandInAddresses(FEW);
      const heard = new Map<string, string | undefined>();
      standIns.onMoved((ids) => {
        for (const id of ids) heard.set(id, standIns.addresses(id)?.IPv4);
      });
      for (const [i, event] of happened.entries()) {
        apply(standIns, event);
        if (settles[i]) standIns.settle();
      }
      standIns.settle();
      const found = addressesOf(standIns);
      const given = found.filter((address) => address !== undefined);
      assert.equal(given.length, wanting.size, "every service that wants one has one");
      assert.equal(new Set(given).size, given.length);
      const slots = new Set(taken.map(slotOfStandIn));
      for (const address of given) assert.ok(!slots.has(slotOfStandIn(address)), address);
      for (const n of wanting) assert.equal(heard.get(idOf(n)), found[n], "listeners know the last address");
      // The same set in another order.
      const fresh = new StandInAddresses(FEW);
      const order = [...wanting];
      const at = order.length === 0 ? 0 : turn % order.length;
      fresh.take(taken.toReversed());
      for (const n of [...order.slice(at), ...order.slice(0, at)]) fresh.want(idOf(n));
      fresh.settle();
      assert.deepEqual(addressesOf(fresh), found);
    }),
    { numRuns: runs(500) },
  );
});

Deno.test("of 20,000 services one added or removed service moves no other service, and costs a few looks at slots", () => {
  const standIns = new StandInAddresses();
  for (let n = 0; n < 20_000; n++) standIns.want(idOf(n));
  standIns.settle();
  const ids = Array.from({ length: 20_000 }, (_, n) => idOf(n));
  const all = () => ids.map((id) => standIns.addresses(id)?.IPv4);
  const before = all();
  assert.equal(new Set(before).size, ids.length);
  const steps = standIns.steps;
  for (let n = 0; n < 100; n++) standIns.want(`other/cache-${n}`);
  standIns.settle();
  assert.deepEqual(all(), before);
  for (let n = 0; n < 100; n++) standIns.unwant(`other/cache-${n}`);
  standIns.settle();
  assert.deepEqual(all(), before);
  assert.ok(standIns.steps - steps < 1000, `${standIns.steps - steps}`);
});

Deno.test("a service that the caller looks at anyway is not reported, a service that it moves is reported", () => {
  // Some of seven services on seven slots share their first slot.
  const [few, moved] = [new StandInAddresses(7), new Set<string>()];
  few.onMoved((ids) => ids.forEach((id) => moved.add(id)));
  few.want("a/b");
  few.settle(new Set(["a/b"]));
  assert.deepEqual([...moved], []);
  few.take([few.addresses("a/b")!.IPv6]);
  few.settle(new Set(["c/d"]));
  assert.deepEqual([...moved], ["a/b"]);
});
