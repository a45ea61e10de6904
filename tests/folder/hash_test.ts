import assert from "node:assert/strict";
import fc from "fast-check";
import { hashBytes } from "../../lib/folder/hash.ts";

const encode = (text: string) => new TextEncoder().encode(text);

Deno.test("equal bytes have equal hashes wherever they stand; a hash is a whole number of 53 bits", () => {
  fc.assert(fc.property(fc.uint8Array(), fc.uint8Array(), fc.uint8Array(), (before, bytes, after) => {
    const all = new Uint8Array([...before, ...bytes, ...after]);
    const hash = hashBytes(bytes, 0, bytes.length);
    assert.equal(hashBytes(all, before.length, before.length + bytes.length), hash);
    assert.ok(Number.isSafeInteger(hash) && hash >= 0);
  }));
});

Deno.test("of 300,000 documents with small differences no two have the same hash", () => {
  const hashes = new Set<number>();
  for (let i = 0; i < 100_000; i++) {
    for (
      const text of [`address: 10.${i >> 16}.${i >> 8 & 255}.${i & 255}\n`, `weight: ${i}\n`, "\n".repeat(i % 7) + i]
    ) {
      const bytes = encode(text);
      hashes.add(hashBytes(bytes, 0, bytes.length));
    }
  }
  assert.equal(hashes.size, 300_000);
});
