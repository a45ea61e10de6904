/** Counts by profile, and the comparison with the list of known failures. */
import assert from "node:assert/strict";
import type { Outcome } from "./support/output.ts";
import { differences, summaryLines } from "./support/summary.ts";

const LIST = {
  profiles: [
    { name: "GATEWAY", core: ["Gateway", "Route"], extended: ["RouteExtra"] },
    { name: "MESH", core: ["Mesh", "Route"], extended: [] },
  ],
  tests: [
    { name: "One", features: ["Gateway", "Route"], provisional: false },
    { name: "Two", features: ["Gateway", "Route"], provisional: false },
    { name: "Three", features: ["Gateway", "Route", "RouteExtra"], provisional: false },
    { name: "Four", features: ["Gateway", "Other"], provisional: false },
    { name: "Five", features: ["Mesh", "Route"], provisional: false },
  ],
};

Deno.test("a test that is skipped or not reached has not passed, and a profile without outcomes has no line", () => {
  const outcomes = new Map<string, Outcome>([["One", "passed"], ["Three", "skipped"]]);
  assert.deepEqual(summaryLines(LIST, outcomes), [
    "GATEWAY core: 1 of 2 passed, 1 not run",
    "GATEWAY extended: 0 of 1 passed, 1 skipped",
  ]);
});

Deno.test("only a listed test may fail or be skipped, and a listed test that passes loses its row", () => {
  const outcomes = new Map<string, Outcome>([
    ...[["One", "passed"], ["Two", "passed"], ["Three", "failed"], ["Four", "skipped"], ["Five", "failed"]] as const,
  ]);
  const known = { Two: "no answer", Three: "no answer" };
  assert.deepEqual(differences(outcomes, known), [
    "Two passes: its row in known.ts goes",
    "Four skipped, and has no row in known.ts",
    "Five failed, and has no row in known.ts",
  ]);
});
