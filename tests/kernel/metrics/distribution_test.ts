import assert from "node:assert/strict";
import fc from "fast-check";
import { Histogram, Registry } from "prom-client";
import { Distribution } from "../../../lib/kernel/metrics/distribution.ts";

const buckets = [0.1, 1, 5];
const common = { name: "seconds", help: "Time.", buckets };
const value = fc.oneof(fc.constantFrom(...buckets, 0, -1, 1e9), fc.double({ noNaN: true, noDefaultInfinity: true }));

Deno.test("a distribution is shown as prom-client's own histogram with the same values, with labels and without", async () => {
  const observed = fc.array(fc.record({ type: fc.constantFrom("cds", "l\n", '"', ""), value }), { maxLength: 20 });
  await fc.assert(fc.asyncProperty(observed, fc.boolean(), async (values, isLabeled) => {
    const [own, theirs] = [new Registry(), new Registry()];
    const labelNames = isLabeled ? ["type"] : [];
    const made = new Distribution({ ...common, labelNames }, own);
    const histogram = new Histogram({ ...common, labelNames, registers: [theirs] });
    for (const { type, value } of values) {
      const labels = isLabeled ? { type } : {};
      made.observe(labels, value);
      histogram.observe(labels, value);
    }
    assert.equal(await own.metrics(), await theirs.metrics());
  }));
});

Deno.test("a series is found again by its labels, and no number is no value", () => {
  const made = new Distribution({ ...common, labelNames: ["type"] }, new Registry());
  assert.equal(made.labels({ type: "cds" }), made.labels({ type: "cds" }));
  assert.notEqual(made.labels({ type: "cds" }), made.labels({ type: "eds" }));
  assert.throws(() => made.observe({ type: "cds" }, NaN), /value: got NaN, expected a finite number/);
});
