/**
 * Random texts and labels for properties of metrics.
 * @module
 */
import fc from "fast-check";

/** Any text, often with characters to escape on the page. */
export const metricText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("", "cds", "l\n", '"', "\\", '\\"', "\\n", 'a",b="c', "é"),
  fc.string({ maxLength: 6, unit: "grapheme" }),
);

/** Labels with the given names, in order; some may be absent. */
export function metricLabels(names: readonly string[]): fc.Arbitrary<Record<string, string | number>> {
  const value = fc.oneof(metricText, fc.integer({ min: -5, max: 500 }));
  return fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [], noNullPrototype: true })
    .map((labels) => Object.fromEntries(names.flatMap((name) => name in labels ? [[name, labels[name]!]] : [])));
}
