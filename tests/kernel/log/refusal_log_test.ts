import assert from "node:assert/strict";
import { PacedLines, REFUSAL_PAUSE } from "../../../lib/kernel/log/paced_lines.ts";
import { RefusalLog } from "../../../lib/kernel/log/refusal_log.ts";

Deno.test("a few lines per interval are written, the others are counted, and the length of a reason is bounded", () => {
  const clock = { ms: 0, monotonic: () => clock.ms };
  const lines = new PacedLines(clock, 3);
  assert.deepEqual([1, 2, 3, 4, 5].map(() => lines.next()), [{}, {}, {}, undefined, undefined]);
  clock.ms += REFUSAL_PAUSE - 1;
  assert.equal(lines.next(), undefined);
  clock.ms += 1;
  assert.deepEqual([1, 2].map(() => lines.next()), [{ earlier: 3 }, {}]);
  const written: string[] = [];
  const log = new RefusalLog("refused", { warn: (_, fields) => written.push(String(fields?.["reason"])) }, clock);
  log.add("10.0.0.1:1", "x".repeat(100_000));
  assert.equal(written[0]?.length, 2000);
});

Deno.test("of many refusals one is logged per interval, and the next line gives the number of the others", () => {
  const lines: unknown[] = [];
  const clock = { ms: 0, monotonic: () => clock.ms };
  const log = new RefusalLog("refused", { warn: (message, fields) => lines.push([message, fields]) }, clock);
  for (let i = 0; i < 1000; i++) log.add(`10.0.0.1:${i}`, "no token");
  clock.ms += REFUSAL_PAUSE;
  log.add("10.0.0.2:1", "expired");
  clock.ms += REFUSAL_PAUSE;
  log.add("10.0.0.3:1", "expired");
  assert.deepEqual(lines, [
    ["refused", { address: "10.0.0.1:0", reason: "no token" }],
    ["refused", { address: "10.0.0.2:1", reason: "expired", earlier: 999 }],
    ["refused", { address: "10.0.0.3:1", reason: "expired" }],
  ]);
});
