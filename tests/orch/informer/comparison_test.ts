/** An informer's objects, compared with the objects of the API. */
import assert from "node:assert/strict";
import { ObjectCache } from "../../../lib/orch/informer/cache.ts";
import { addIdentity, differences, type Identities, unheard } from "../../../lib/orch/informer/comparison.ts";
import { unpaced } from "../../../lib/kernel/time/paced.ts";

const object = (name: string, version: string, uid = name) => ({ namespace: "shop", name, uid, version, value: 0 });

const item = (name: string, resourceVersion: string, uid = name) => ({
  metadata: { namespace: "shop", name, uid, resourceVersion },
});

function kept(...objects: ReturnType<typeof object>[]): ObjectCache<number> {
  const cache = new ObjectCache<number>();
  cache.apply(objects.map((object) => ({ type: "put", object })));
  return cache;
}

function listed(...items: unknown[]): Identities {
  const all: Identities = new Map();
  for (const one of items) addIdentity(one, all);
  return all;
}

Deno.test("other versions, other objects of a name, missing and superfluous ones are differences, in any number", () => {
  const many = Array.from({ length: 3000 }, (_, i) => `n${i}`);
  const cache = kept(object("a", "1"), object("b", "1"), object("gone", "1"), ...many.map((name) => object(name, "1")));
  const list = listed(
    item("a", "2"),
    item("b", "1", "other"),
    item("new", "1"),
    ...many.map((name) => item(name, "1")),
  );
  assert.deepEqual([...unpaced(differences(list, cache))], [
    ["shop/a", "a 1"],
    ["shop/b", "b 1"],
    ["shop/gone", "gone 1"],
    ["shop/new", ""],
  ]);
});

Deno.test("a difference that an event has already reported no longer counts", () => {
  const cache = kept(object("a", "1"), object("b", "1"), object("c", "1"));
  const found = unpaced(differences(listed(item("a", "2"), item("b", "2"), item("d", "1")), cache));
  cache.apply([{ type: "put", object: object("a", "2") }, { type: "gone", object: object("c", "3") }]);
  assert.deepEqual(unheard(found, cache), ["shop/b", "shop/d"]);
});

Deno.test("what has no name in a list is passed over", () => {
  assert.deepEqual(listed(null, [], {}, { metadata: {} }, { metadata: { name: 1 } }).size, 0);
});
