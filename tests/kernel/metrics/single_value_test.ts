import assert from "node:assert/strict";
import fc from "fast-check";
import { Counter, Gauge, Registry } from "prom-client";
import { SingleValue } from "../../../lib/kernel/metrics/single_value.ts";
import { metricLabels, metricText } from "./support.ts";

const labelNames = fc.constantFrom<string[]>([], ["type"], ["node", "err"]);
/** The library wants a help text. */
const help = metricText.filter(Boolean);
const added = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.double({ min: 0, max: 1e300, noNaN: true }));
const held = fc.oneof(fc.constantFrom(Infinity, -Infinity, 0, -0, 1e21), fc.double({ noNaN: true }));

type Step = readonly ["inc" | "dec" | "set" | "remove", Record<string, string | number>, number, boolean];

/** Does the same to both metrics: by a kept handle, or at once. */
function take(metric: SingleValue | Counter | Gauge, [what, labels, value, isKept]: Step): void {
  const gauge = metric as Gauge;
  if (what === "remove") gauge.remove(labels);
  else if (isKept) gauge.labels(labels)[what](value);
  else if (Object.keys(labels).length === 0) gauge[what](value);
  else gauge[what](labels, value);
}

Deno.test("a counter is shown as prom-client shows its own: help, type, labels, what they escape, and values", async () => {
  const use = fc.constantFrom("inc" as const, "remove" as const);
  const cases = labelNames.chain((names) =>
    fc.tuple(fc.constant(names), help, fc.array(fc.tuple(use, metricLabels(names), added, fc.boolean())))
  );
  await fc.assert(fc.asyncProperty(cases, async ([labelNames, help, steps]) => {
    const registry = new Registry();
    const own = new SingleValue({ name: "requests_total", help, type: "counter", labelNames });
    const theirs = new Counter({ name: "requests_total", help, labelNames, registers: [registry] });
    for (const step of steps) for (const metric of [own, theirs]) take(metric, step);
    assert.equal(`${own.text()}\n`, await registry.metrics());
  }));
});

Deno.test("a gauge is shown as by prom-client, after any sets, additions, subtractions and removals", async () => {
  const put = fc.constantFrom("set" as const, "remove" as const);
  const change = fc.constantFrom("inc" as const, "dec" as const);
  const cases = labelNames.chain((names) => {
    const labels = metricLabels(names);
    const step = fc.oneof(
      fc.tuple(put, labels, held, fc.boolean()),
      fc.tuple(change, labels, added, fc.boolean()),
    );
    return fc.tuple(fc.constant(names), help, fc.array(step));
  });
  await fc.assert(fc.asyncProperty(cases, async ([labelNames, help, steps]) => {
    const registry = new Registry();
    const own = new SingleValue({ name: "entries", help, type: "gauge", labelNames });
    const theirs = new Gauge({ name: "entries", help, labelNames, registers: [registry] });
    for (const step of steps) for (const metric of [own, theirs]) take(metric, step);
    // The library writes "Nan" for a sum of both infinities, which Prometheus reads only because it ignores case.
    assert.equal(`${own.text()}\n`, (await registry.metrics()).replaceAll(/ Nan$/gm, " NaN"));
  }));
});

Deno.test("a series has one order of labels and one place, in whichever order they are given", () => {
  const made = new SingleValue({ name: "rejects", help: "R.", type: "gauge", labelNames: ["node", "err"] });
  made.set({ err: "x", node: "a" }, 1);
  made.labels({ node: "a", err: "x" }).inc();
  assert.equal(made.text(), '# HELP rejects R.\n# TYPE rejects gauge\nrejects{node="a",err="x"} 2');
});

Deno.test("a handle whose series was forgotten begins anew with its next value", () => {
  const made = new SingleValue({ name: "rejects", help: "R.", type: "counter", labelNames: ["node"] });
  const handle = made.labels({ node: "a" });
  handle.inc(5);
  made.remove({ node: "a" });
  assert.doesNotMatch(made.text(), /^rejects/m);
  handle.inc();
  assert.match(made.text(), /^rejects\{node="a"\} 1$/m);
});

Deno.test("a counter refuses values that would not increase it, and every metric refuses unknown labels", () => {
  const made = new SingleValue({ name: "requests", help: "R.", type: "counter", labelNames: ["type"] });
  for (const value of [-1, NaN, Infinity]) {
    assert.throws(() => made.inc({ type: "x" }, value), { name: "RangeError", message: /^requests: got .*, expected/ });
  }
  assert.doesNotMatch(made.text(), /^requests/m);
  assert.throws(() => made.inc({ kind: "x" }), { name: "RangeError", message: "label kind: expected type" });
});
