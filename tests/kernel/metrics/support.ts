/**
 * What properties of metrics draw from.
 *
 * @module
 */
import fc from "fast-check";

/** Any text, often one with what the page must escape. */
export const metricText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("", "cds", "l\n", '"', "\\", '\\"', "\\n", 'a",b="c', "é"),
  fc.string({ maxLength: 6, unit: "grapheme" }),
);

/** Labels of these names, in their order; some may be absent. */
export function metricLabels(names: readonly string[]): fc.Arbitrary<Record<string, string | number>> {
  const value = fc.oneof(metricText, fc.integer({ min: -5, max: 500 }));
  return fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [], noNullPrototype: true })
    .map((labels) => Object.fromEntries(names.flatMap((name) => name in labels ? [[name, labels[name]!]] : [])));
}
