import assert from "node:assert/strict";
import fc from "fast-check";
import {
  formatDuration,
  MAX_DURATION_MS,
  MAX_DURATION_TEXT,
  parseDuration,
  parseSpan,
  readableDuration,
} from "../../../lib/kernel/time/duration.ts";
import { runs } from "../../properties.ts";

const pairs: [string, number][] = [
  ["0s", 0],
  ["100ms", 100],
  ["10s", 10_000],
  ["1h0m0s", 3_600_000],
  ["87600h0m0s", 87600 * 3_600_000],
  ["1m30.5s", 90_500],
  ["1.5ms", 1.5],
  ["2µs", 0.002],
  ["7ns", 0.000007],
  ["-5s", -5000],
  [MAX_DURATION_TEXT, MAX_DURATION_MS],
];

for (const [text, ms] of pairs) {
  Deno.test(`${text} is ${ms} ms, both ways`, () => {
    assert.equal(parseDuration(text), ms);
    assert.equal(formatDuration(ms), text);
  });
}

const readOnly: [string, number][] = [
  ["0", 0],
  ["+0", 0],
  ["1.5h", 5_400_000],
  [".5s", 500],
  ["1.s", 1000],
  ["90m", 5_400_000],
  ["1us", 0.001],
  ["1μs", 0.001],
];
for (const [text, ms] of readOnly) {
  Deno.test(`${text} reads as ${ms} ms`, () => assert.equal(parseDuration(text), ms));
}

for (
  const text of [
    "",
    "5",
    "-",
    "s",
    "1x",
    "1 s",
    " 1s",
    "1h 2m",
    "1,5s",
    ".s",
    "1e3s",
    "2562047h47m16.854775808s",
    "9999999999999h",
  ]
) {
  Deno.test(`${JSON.stringify(text)} is not a duration`, () => assert.equal(parseDuration(text), undefined));
}

Deno.test("every duration up to a hundred days, to the microsecond, survives text and back", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100 * 86_400 * 1_000_000 }), (microseconds) => {
      const value = microseconds / 1000;
      assert.equal(parseDuration(formatDuration(value)), value);
    }),
    { numRuns: runs(1000) },
  );
});

Deno.test("NaN has no text", () => assert.throws(() => formatDuration(NaN), RangeError));

Deno.test("durations are shown without empty units, the longest duration as never, and the shown text reads back", () => {
  const rows = [["24h0m0s", "24h"], ["1h30m0s", "1h30m"], ["1m0s", "1m"], ["1h0m5s", "1h0m5s"], ["10s", "10s"], [
    "0s",
    "0s",
  ]];
  rows.push(["20m10s", "20m10s"], ["100ms", "100ms"], [MAX_DURATION_TEXT, "never"], ["-1h0m0s", "-1h"]);
  for (const [go = "", shown] of rows) {
    const ms = parseDuration(go) ?? assert.fail(go);
    assert.equal(readableDuration(ms), shown);
    assert.equal(parseSpan(readableDuration(ms)), ms);
  }
  assert.equal(parseSpan("nevr"), undefined);
});
