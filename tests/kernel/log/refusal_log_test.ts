import assert from "node:assert/strict";
import { REFUSAL_PAUSE, RefusalLog } from "../../../lib/kernel/log/refusal_log.ts";

Deno.test("of many refusals one a pause is written, the next line says how many were not", () => {
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
