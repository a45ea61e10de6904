import assert from "node:assert/strict";
import fc from "fast-check";
import { before, certificateTexts, withoutEdges, withoutEnd } from "../../../lib/kernel/text/edges.ts";

const text = fc.string({ unit: fc.constantFrom("/", ".", "a", "b", "\n") });

Deno.test("a text before a sign ends at the first one", () => {
  assert.equal(before("a/b/c", "/"), "a");
  assert.equal(before("abc", "/"), "abc");
  assert.equal(before("", "/"), "");
});

Deno.test("signs at the edges are removed, signs inside stay", () => {
  fc.assert(fc.property(text, (one) => {
    assert.equal(withoutEnd(one, "/."), one.replace(/[/.]+$/, ""));
    assert.equal(withoutEdges(one, "/."), one.replace(/^[/.]+|[/.]+$/g, ""));
  }));
});

Deno.test("certificates of a PEM text: each with its own first line, whatever stands between them", () => {
  const block = (body: string) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----`;
  assert.deepEqual(certificateTexts(`subject=a\n${block("AA")}\njunk\n${block("BB")}\n`), [block("AA"), block("BB")]);
  assert.deepEqual(certificateTexts(`-----BEGIN CERTIFICATE-----\nlost\n${block("AA")}`), [block("AA")]);
  assert.deepEqual(certificateTexts(`-----END CERTIFICATE-----\n${block("AA")}`), [block("AA")]);
  assert.deepEqual(certificateTexts("-----BEGIN CERTIFICATE-----\nno end"), []);
});
