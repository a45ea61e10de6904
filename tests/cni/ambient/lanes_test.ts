/** The order of works in lanes. */
import assert from "node:assert/strict";
import { Lanes } from "../../../lib/cni/ambient/lanes.ts";

Deno.test("works of a key run one after the other, few at once, urgent works before those that wait", async () => {
  const lanes = new Lanes(2);
  const order: string[] = [];
  let running = 0;
  const ends = new Map<string, () => void>();
  const work = (name: string) => async () => {
    assert(++running <= 2);
    order.push(name);
    await new Promise<void>((resolve) => ends.set(name, resolve));
    running--;
    if (name === "fails") throw new Error(name);
  };
  const settled = () => new Promise((resolve) => setTimeout(resolve));
  lanes.run("a", work("a1"));
  lanes.run("b", work("fails")).catch(() => {});
  lanes.run("b", work("b2"));
  lanes.run("c", work("c1"));
  lanes.run("d", work("d1"), true);
  await settled();
  assert.deepEqual(order, ["a1", "fails"]);
  ends.get("a1")!();
  await settled();
  assert.deepEqual(order, ["a1", "fails", "d1"]);
  for (const name of ["fails", "d1", "b2", "c1"]) {
    await settled();
    ends.get(name)?.();
  }
  await settled();
  for (const end of ends.values()) end();
  await lanes.settled();
  assert.deepEqual(order.toSorted(), ["a1", "b2", "c1", "d1", "fails"]);
});
