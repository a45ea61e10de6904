import assert from "node:assert/strict";
import fc from "fast-check";
import { GRACE, machine, replicas, workloadGroup } from "./replicas.ts";
import { runs } from "../../properties.ts";

const GROUP = workloadGroup({ template: { serviceAccount: "vm" } });
const MACHINES = ["10.0.0.1", "10.0.0.2"].map((address) => machine(address));

const event = fc.oneof(
  fc.record({ does: fc.constant("open" as const), server: fc.nat(2), machine: fc.nat(1) }),
  fc.record({ does: fc.constant("close" as const), which: fc.nat(9) }),
  fc.record({ does: fc.constant("lead" as const), server: fc.nat(2) }),
  fc.record({ does: fc.constant("fail" as const), times: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ does: fc.constant("wait" as const), ms: fc.constantFrom(0, 1, 500, GRACE / 2, GRACE, 3 * GRACE) }),
);

Deno.test("in any order of streams, servers, leaders, failures and clocks an entry is there as long as its machine is, and goes after", async () => {
  const skews = fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: -600_000, max: 600_000 })));
  await fc.assert(
    fc.asyncProperty(skews, fc.array(event, { maxLength: 30 }), async (skew, events) => {
      const world = replicas(skew);
      world.user.apply({ upserted: [GROUP], removed: [] });
      world.lead(0);
      let open: { readonly machine: number; readonly close: () => void }[] = [];
      for (const one of events) {
        if (one.does === "open") {
          const { close } = world.open(one.server, MACHINES[one.machine]!);
          open.push({ machine: one.machine, close });
        } else if (one.does === "close" && open.length > 0) {
          const closed = open[one.which % open.length]!;
          closed.close();
          open = open.filter((other) => other !== closed);
        } else if (one.does === "lead") world.lead(one.server);
        else if (one.does === "fail") world.faults.next += one.times;
        else if (one.does === "wait") await world.clock.advance(one.ms);
      }
      // The longest pauses after failures, then the longest grace.
      world.faults.next = 0;
      await world.clock.advance(60_000);
      await world.clock.advance(3 * GRACE);
      const wanted = [...new Set(open.map((stream) => stream.machine))].sort().map((index) =>
        `machines-10.0.0.${index + 1}`
      );
      assert.deepEqual(world.entries().map(({ meta }) => meta.name), wanted);
      for (const said of world.said()) assert.match(said, / server-\d$/);
      for (const stream of open) stream.close();
      await world.clock.advance(60_000);
      assert.deepEqual(world.said(), []);
      await world.end();
    }),
    { numRuns: runs(60) },
  );
});
