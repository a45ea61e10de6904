import assert from "node:assert/strict";
import fc from "fast-check";
import { Histogram, Registry } from "prom-client";
import { Distribution } from "../../../lib/kernel/metrics/distribution.ts";
import { metricLabels, metricText } from "./support.ts";

const buckets = [0.1, 1, 5];
const value = fc.oneof(fc.constantFrom(...buckets, 0, -1, 1e9), fc.double({ noNaN: true, noDefaultInfinity: true }));

Deno.test("a distribution is shown as prom-client shows its histogram of the same values, with labels and without", async () => {
  const cases = fc.constantFrom<string[]>([], ["type"], ["node", "err"]).chain((names) =>
    fc.tuple(fc.constant(names), metricText.filter(Boolean), fc.array(fc.tuple(metricLabels(names), value)))
  );
  await fc.assert(fc.asyncProperty(cases, async ([labelNames, help, values]) => {
    const registry = new Registry();
    const made = new Distribution({ name: "seconds", help, labelNames, buckets });
    const histogram = new Histogram({ name: "seconds", help, labelNames, buckets, registers: [registry] });
    for (const [labels, value] of values) {
      made.observe(labels, value);
      histogram.observe(labels, value);
    }
    assert.equal(`${made.text()}\n`, await registry.metrics());
  }));
});

Deno.test("a series is found again by its labels, and NaN is not a value", () => {
  const made = new Distribution({ name: "seconds", help: "Time.", buckets, labelNames: ["type"] });
  assert.equal(made.labels({ type: "cds" }), made.labels({ type: "cds" }));
  assert.notEqual(made.labels({ type: "cds" }), made.labels({ type: "eds" }));
  assert.throws(() => made.observe({ type: "cds" }, NaN), /value: got NaN, expected a finite number/);
});
