import assert from "node:assert/strict";
import fc from "fast-check";
import { bytesOfText, textOfBytes } from "../../../lib/cni/node/file_text.ts";
import { runs } from "../../properties.ts";

Deno.test({
  name: "any bytes become text and the same bytes again",
  permissions: "none",
  fn() {
    // Bytes of characters, for many whole, broken and forbidden characters.
    const byte = fc.oneof(
      fc.constantFrom(0x41, 0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff),
      fc.integer({ min: 0, max: 255 }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), fc.array(byte, { maxLength: 12 }), (random, chosen) => {
        for (const bytes of [random, Uint8Array.from(chosen)]) assert.deepEqual(bytesOfText(textOfBytes(bytes)), bytes);
      }),
      { numRuns: runs(5000) },
    );
  },
});

Deno.test({
  name: "valid UTF-8 is read as what it is, a byte order mark included; a broken byte costs no other character",
  permissions: "none",
  fn() {
    for (const text of ["", "\ufeffä€😀", "plain"]) assert.equal(textOfBytes(new TextEncoder().encode(text)), text);
    assert.equal(textOfBytes(Uint8Array.of(0xc3, 0xa4, 0xff, 0xe2, 0x82, 0xac)), "ä\udcff€");
    assert.deepEqual(bytesOfText("ä\udcff€"), Uint8Array.of(0xc3, 0xa4, 0xff, 0xe2, 0x82, 0xac));
  },
});
