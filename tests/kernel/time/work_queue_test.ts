import assert from "node:assert/strict";
import fc from "fast-check";
import { QueueFull, WorkQueue } from "../../../lib/kernel/time/work_queue.ts";

Deno.test("work runs in order, never more at once than allowed, and work beyond the queue is refused at once", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.nat(5),
      fc.array(fc.record({ turns: fc.nat(3), fails: fc.boolean() }), { maxLength: 30 }),
      async (atOnce, mayWait, works) => {
        const queue = new WorkQueue(atOnce, mayWait);
        let running = 0;
        const begun: number[] = [];
        const results = works.map(({ turns, fails }, i) =>
          queue.run(async () => {
            begun.push(i);
            assert.ok(++running <= atOnce);
            for (let turn = 0; turn < turns; turn++) await Promise.resolve();
            running--;
            if (fails) throw new Error("failed");
            return i;
          })
        );
        const settled = await Promise.allSettled(results);
        const refused = settled.filter((one) => one.status === "rejected" && one.reason instanceof QueueFull).length;
        assert.equal(refused, Math.max(0, works.length - atOnce - mayWait));
        assert.deepEqual(begun, works.map((_, i) => i).slice(0, atOnce + mayWait));
        assert.equal(await queue.run(() => Promise.resolve("again")), "again");
      },
    ),
  );
});
