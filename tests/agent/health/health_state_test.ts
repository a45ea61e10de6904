import assert from "node:assert/strict";
import fc from "fast-check";
import { nextHealth, UNKNOWN_HEALTH } from "../../../lib/agent/health/health_state.ts";

/** Reports of outcomes, each with the number of the reported outcome. */
function reports(outcomes: readonly boolean[], success: number, failure: number): [number, boolean][] {
  let state = UNKNOWN_HEALTH;
  return outcomes.flatMap((healthy, i) => {
    const outcome = healthy ? { healthy } as const : { healthy: false, reason: String(i) } as const;
    const next = nextHealth(state, outcome, { success, failure });
    state = next.state;
    if (next.report !== undefined) assert.deepEqual(next.report, outcome);
    return next.report === undefined ? [] : [[i, healthy] as [number, boolean]];
  });
}

Deno.test("health is reported after the threshold's number of equal outcomes in a row, and then only its changes", () => {
  const [y, n] = [true, false];
  assert.deepEqual(reports([y], 1, 3), [[0, true]]);
  assert.deepEqual(reports([n, n, n, n], 1, 3), [[2, false]]);
  assert.deepEqual(reports([y, n, n, y, n, n, n, y], 1, 3), [[0, true], [6, false], [7, true]]);
  assert.deepEqual(reports([y, n, y, y], 2, 1), [[1, false], [3, true]]);
});

Deno.test("reports alternate, and each ends a row of as many outcomes like it as its threshold wants", () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean()),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 4 }),
      (list, s, f) => {
        const made = reports(list, s, f);
        for (const [i, [at, healthy]] of made.entries()) {
          if (i > 0) assert.notEqual(healthy, made[i - 1]![1]);
          const row = list.slice(Math.max(0, at + 1 - (healthy ? s : f)), at + 1);
          assert.ok(row.length === (healthy ? s : f) && row.every((one) => one === healthy));
        }
        // Nothing is left out: between two reports no other row of the other kind was long enough.
        let [row, last] = [0, undefined as boolean | undefined];
        for (const [at, healthy] of list.entries()) {
          row = at > 0 && list[at - 1] === healthy ? row + 1 : 1;
          const report = made.find(([i]) => i === at);
          if (report !== undefined) last = report[1];
          else assert.ok(healthy === last || row < (healthy ? s : f), `at ${at}`);
        }
      },
    ),
  );
});
