/** Values in usual form are read without schemas, with the schemas' results. */
import fc from "fast-check";
import assert from "node:assert/strict";
import { flag, list, type MetadataForm, text } from "../../../lib/translate/proxy/metadata_form.ts";
import { runs } from "../../properties.ts";

const strings = fc.oneof(
  fc.string(),
  fc.string({ minLength: 1000, maxLength: 1100 }),
  fc.array(fc.constantFrom(" ", ",", "a", "10.0.0.1", "true", "FALSE", "\u00e9"), { maxLength: 8 }).map((parts) =>
    parts.join("")
  ),
);
const values = fc.oneof(strings, fc.boolean(), fc.integer(), fc.jsonValue(), fc.array(strings, { maxLength: 3 }));

for (const [name, form] of Object.entries<MetadataForm<unknown>>({ text, flag, list })) {
  Deno.test(`${name}: reading without the schema gives the schema's result`, () => {
    fc.assert(
      fc.property(values, (value) => {
        const usual = form.usual?.(value);
        if (usual === undefined) return;
        assert.deepEqual({ success: true, data: usual }, { ...form.schema.safeParse(value) });
      }),
      { numRuns: runs(2000) },
    );
  });
}

Deno.test("what proxies send most is read without schemas", () => {
  assert.equal(text.usual?.("default"), "default");
  assert.equal(flag.usual?.(true), true);
  assert.deepEqual(list.usual?.("10.0.0.1, fd00::1"), ["10.0.0.1", "fd00::1"]);
});

Deno.test("the longest text and list are read without schemas, longer ones refused by them", () => {
  for (const [form, most] of [[text, 1024], [list, 16 * 1024]] as const) {
    assert.notEqual(form.usual?.("x".repeat(most)), undefined);
    assert.equal(form.usual?.("x".repeat(most + 1)), undefined);
    assert.equal(form.schema.safeParse("x".repeat(most)).success, true);
    assert.equal(form.schema.safeParse("x".repeat(most + 1)).success, false);
  }
});
