import assert from "node:assert/strict";
import { InternedNames } from "../../lib/resource/names.ts";
import { OwedEndpoints } from "../../lib/xds/owed_endpoints.ts";

const table = new InternedNames();

Deno.test("the endpoints owed to a node are given once, the latest of several", () => {
  const owed = new OwedEndpoints();
  owed.remember("a", table.of(["x"]));
  owed.remember("a", table.of(["y", "z"]));
  owed.remember("b", table.empty);
  assert.equal(owed.take("a"), table.of(["y", "z"]));
  assert.deepEqual([owed.take("a"), owed.take("b")], [undefined, undefined]);
});

Deno.test("of more than 10,000 nodes, or more than 500,000 names, the oldest are forgotten", () => {
  const owed = new OwedEndpoints();
  for (let i = 0; i < 12_000; i++) owed.remember(`n${i}`, table.of(["x"]));
  assert.deepEqual([owed.size, owed.take("n1999"), owed.take("n2000")], [10_000, undefined, table.of(["x"])]);
  const many = table.of(Array.from({ length: 100_000 }, (_, i) => `e${i}`));
  for (let i = 0; i < 7; i++) owed.remember(`m${i}`, many);
  assert.deepEqual([owed.size, owed.take("m1"), owed.take("m2")], [5, undefined, many]);
});
