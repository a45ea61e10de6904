/** What the suite prints is read test by test. */
import assert from "node:assert/strict";
import { SuiteOutput } from "./support/output.ts";

/** The output of a program with a test that fails in a part, a test that passes and a test that is skipped. */
const PRINTED = `\x16=== RUN   TestConformance
    conformance.go:1: Test Setup: Applying base manifests
\x16=== RUN   TestConformance/RouteOne
    apply.go:1: Applying tests/one.yaml
\x16=== RUN   TestConformance/RouteOne/Part_of_one
    http.go:1: expected status code 200, got 500
\x16=== RUN   TestConformance/RouteTwo
    apply.go:1: Applying tests/two.yaml
\x16=== NAME  TestConformance/RouteOne
    apply.go:1: deleted
    \x16--- FAIL: TestConformance/RouteOne/Part_of_one (1.50s)
\x16--- FAIL: TestConformance/RouteOne (2.25s)
\x16--- PASS: TestConformance/RouteTwo (0.10s)
\x16=== RUN   TestConformance/RouteThree
\x16--- SKIP: TestConformance/RouteThree (0.00s)
\x16=== NAME  TestConformance
    conformance.go:1: the end
\x16--- FAIL: TestConformance (9.00s)`;

Deno.test("each test has its outcome, its seconds, and its own lines also between lines of other tests", () => {
  const output = new SuiteOutput();
  PRINTED.split("\n").forEach((line, i) => output.take(line, i * 1000));
  const one = [
    "    apply.go:1: Applying tests/one.yaml",
    "    http.go:1: expected status code 200, got 500",
    "    apply.go:1: deleted",
    "failed: RouteOne/Part_of_one",
  ];
  assert.deepEqual(output.ends, [
    { name: "RouteOne", outcome: "failed", seconds: 9, lines: one },
    { name: "RouteTwo", outcome: "passed", seconds: 6, lines: ["    apply.go:1: Applying tests/two.yaml"] },
    { name: "RouteThree", outcome: "skipped", seconds: 1, lines: [] },
  ]);
  assert.deepEqual(output.otherLines, [
    "    conformance.go:1: Test Setup: Applying base manifests",
    "    conformance.go:1: the end",
  ]);
});

Deno.test("a suite that ends in its preparation has no ended test, and tells why", () => {
  const output = new SuiteOutput();
  const lines = [
    "\x16=== RUN   TestConformance",
    "    helpers.go:1: no GatewayClass",
    "\x16--- FAIL: TestConformance (3.00s)",
  ];
  for (const line of lines) output.take(line, 0);
  assert.deepEqual(output.ends, []);
  assert.deepEqual(output.otherLines, ["    helpers.go:1: no GatewayClass"]);
});
