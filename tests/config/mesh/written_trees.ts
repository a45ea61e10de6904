/**
 * Trees in the users' form, made from the schema of a field.
 * @module
 */
import fc from "fast-check";
import type { Field } from "../../../lib/config/schema/field.ts";
import { MAX_DURATION_TEXT } from "../../../lib/kernel/time/duration.ts";

const texts = fc.constantFrom("", "a", "b.c", "127.0.0.1:80", "*", "ISTIO_META_A", "MESH_META_A", "istio.io/a", "yes");
const durations = fc.oneof(
  fc.constantFrom("0s", "1h", "1.5s", "250ms", "3ns", "-4m", MAX_DURATION_TEXT),
  fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map((ns) => `${ns}ns`),
);

/** Values that most fields refuse. */
const WRONG = fc.constantFrom<unknown>(null, -1, 1.5, "1", "soon", true, [], [null], {}, { a: 1 });

/**
 * Valid trees of a field: each field of a message is present or absent, of a group at most one.
 *
 * @param wrong Whether a few values are wrong.
 */
export function writtenTrees(field: Field<unknown>, wrong = false): fc.Arbitrary<unknown> {
  const right = rightTrees(field, wrong);
  return wrong ? fc.oneof({ weight: 60, arbitrary: right }, { weight: 1, arbitrary: WRONG }) : right;
}

function rightTrees({ shape }: Field<unknown>, wrong: boolean): fc.Arbitrary<unknown> {
  const written = (field: Field<unknown>) => writtenTrees(field, wrong);
  switch (shape.type) {
    case "string":
      return texts;
    case "base64":
      return fc.constantFrom("", "YQ==");
    case "boolean":
      return fc.boolean();
    case "duration":
      return durations;
    case "number":
      return fc.constantFrom(0, 0.5, 100);
    case "integer":
      return fc.constantFrom(shape.minimum, shape.maximum, 0, 1);
    case "enum":
      return fc.constantFrom(...shape.names);
    case "struct":
      return fc.constantFrom({}, { a: [1, { b: "5s" }] });
    case "list":
      return fc.array(written(shape.element), { maxLength: 2 });
    case "map":
      return fc.dictionary(fc.constantFrom("a", "ISTIO_META_A", "istio.io/b", "c d"), written(shape.value), {
        maxKeys: 2,
      });
    case "message": {
      const required = Object.entries(shape.fields).filter(([, one]) => one.present === true);
      const fields = Object.fromEntries(Object.entries(shape.fields).map(([name, one]) => [name, written(one)]));
      return fc.record(fields, { requiredKeys: required.map(([name]) => name) }).map((message) => {
        const extra = shape.oneOf.flatMap((group) => group.filter((name) => Object.hasOwn(message, name)).slice(1));
        return Object.fromEntries(Object.entries(message).filter(([name]) => !extra.includes(name)));
      });
    }
  }
}
