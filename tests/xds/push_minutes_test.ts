/** Pushes are counted by minute, for an hour, in bounded memory. */
import assert from "node:assert/strict";
import { PUSH_MINUTES, PushMinutes } from "../../lib/xds/push_minutes.ts";

const MINUTE = 60_000;
const NOW = 1_800_000_000_000;

Deno.test("the counts of the last hour end with the present minute, and older pushes are gone", () => {
  const minutes = new PushMinutes();
  for (const ago of [60, 59, 1, 1, 0]) minutes.add(NOW - ago * MINUTE);
  const counts = minutes.lastHour(NOW);
  assert.equal(counts.length, PUSH_MINUTES);
  assert.deepEqual([counts[0], ...counts.slice(-2)], [1, 2, 1]);
  assert.deepEqual(minutes.lastHour(NOW + MINUTE).slice(-3), [2, 1, 0]);
});

Deno.test("a clock that was years ahead for a while leaves no counts behind", () => {
  const minutes = new PushMinutes();
  const ahead = NOW + 1e12;
  for (let at = 0; at < 100; at++) minutes.add(ahead + at * MINUTE);
  for (let at = 0; at < 100; at++) minutes.add(NOW + at * MINUTE);
  const sum = (now: number) => minutes.lastHour(now).reduce((all, one) => all + one, 0);
  assert.deepEqual([sum(NOW + 99 * MINUTE), sum(ahead + 99 * MINUTE)], [60, 0]);
});
