/** Status updates wait for a turn. */
import assert from "node:assert/strict";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { systemClock } from "../../lib/kernel/time/clock.ts";
import { TokenBucket } from "../../lib/orch/client/token_bucket.ts";
import { StatusWriter } from "../../lib/status/writer.ts";

const options = { id: "status", clock: systemClock, log: silentLog().scope("status") };

Deno.test("at most PILOT_STATUS_MAX_WORKERS updates are under way, and only the last update of an object is sent", async () => {
  const over = new AbortController();
  const writer = new StatusWriter({ ...options, workers: 3, limit: new TokenBucket(0, 1, systemClock) }, over.signal);
  let [now, most, sent] = [0, 0, 0];
  const done = Promise.withResolvers<void>();
  const last: string[] = [];
  for (const version of ["first", "second"]) {
    for (let n = 0; n < 20; n++) {
      writer.put(`o${n}`, async () => {
        most = Math.max(most, ++now);
        await Promise.resolve();
        now--;
        last[n] = version;
        if (++sent >= 20 && last.every((one) => one === "second")) done.resolve();
      });
    }
  }
  await done.promise;
  assert.equal(most, 3);
  assert.ok(sent <= 23, `${sent}: those that waited were replaced`);
  await writer.stop();
});

Deno.test("as many updates go out at once as PILOT_STATUS_BURST says, and the others at PILOT_STATUS_QPS", async () => {
  const over = new AbortController();
  const waits: number[] = [];
  const clock = { ...systemClock, monotonic: () => 0, sleep: (ms: number) => (waits.push(ms), Promise.resolve()) };
  const writer = new StatusWriter({ ...options, workers: 100, limit: new TokenBucket(10, 4, clock) }, over.signal);
  const done = Promise.withResolvers<void>();
  let sent = 0;
  for (let n = 0; n < 7; n++) {
    writer.put(`o${n}`, () => {
      if (++sent === 7) done.resolve();
      return Promise.resolve();
    });
  }
  await done.promise;
  assert.deepEqual(waits, [100, 200, 300]);
  await writer.stop();
});
