/** Random changes: what is kept up to date equals what a new server makes. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { TunnelWorld, type WorldObject } from "./support/world.ts";
import { VARIANTS } from "./support/variants.ts";
import { runs } from "../properties.ts";

/** A change of an object, with or without a look at the resources afterwards. */
const change = fc.record({
  variant: fc.integer({ min: 0, max: VARIANTS.length - 1 }),
  isRemoved: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
  looks: fc.boolean(),
});

const versionsOf = (world: TunnelWorld) => world.resources().map(({ name, version }) => `${name} ${version}`);

Deno.test("after random changes, resources equal the resources of a new index", () => {
  const sizes: number[] = [];
  fc.assert(
    fc.property(fc.array(change, { minLength: 10, maxLength: 80, size: "max" }), (changes) => {
      const world = new TunnelWorld();
      const objects = new Map<string, WorldObject>();
      for (const { variant, isRemoved, looks } of changes) {
        const object = VARIANTS[variant]!;
        if (isRemoved) {
          objects.delete(object.key);
          world.index.remove(object.key);
        } else {
          objects.set(object.key, object);
          world.put(object);
        }
        if (looks) world.resources();
      }
      const fresh = versionsOf(new TunnelWorld().put(...objects.values()));
      sizes.push(fresh.length);
      assert.deepEqual(versionsOf(world), fresh);
    }),
    { numRuns: runs(600) },
  );
  assert.ok(Math.max(...sizes) > 6, `the largest world has ${Math.max(...sizes)} resources`);
});

Deno.test("the order of objects changes no resource", () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([...VARIANTS.keys()]), (order) => {
      const last = new Map(order.map((at) => [VARIANTS[at]!.key, VARIANTS[at]!]));
      const sorted = [...last.values()].sort((a, b) => a.key < b.key ? -1 : 1);
      const inOrder = versionsOf(new TunnelWorld().put(...last.values()));
      assert.deepEqual(inOrder, versionsOf(new TunnelWorld().put(...sorted)));
    }),
    { numRuns: runs(200) },
  );
});
