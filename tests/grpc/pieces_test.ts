import assert from "node:assert/strict";
import fc from "fast-check";
import { Pieces } from "../../lib/grpc/budget/pieces.ts";
import { runs } from "../properties.ts";

/** A piece: so many bytes in the same read as the piece before, or in a new read. */
const pieces = fc.array(
  fc.record({
    size: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 16384 })),
    same: fc.boolean(),
  }),
  { minLength: 1, maxLength: 60 },
);
const READ = 65536;

Deno.test("pieces return the written bytes, and count their memory", () => {
  fc.assert(
    fc.property(pieces, fc.integer({ min: 0, max: 255 }), (list, first) => {
      const held = new Pieces();
      const all: number[] = [];
      let read = new Uint8Array(0);
      let at = 0;
      const total = list.reduce((sum, { size }) => sum + size, 0);
      for (const { size, same } of list) {
        if (!same || at + size > read.length) {
          read = new Uint8Array(READ).map((_, i) => first + i * 7);
          at = 0;
        }
        held.append(read.subarray(at, at + size), total);
        all.push(...read.subarray(at, at + size));
        at += size;
        assert.equal(held.length, all.length);
        assert.ok(held.capacity <= 2 * held.length + 64 + READ, `${held.capacity} bytes of memory for ${held.length}`);
        assert.deepEqual([...held.start.subarray(0, 3)], all.slice(0, Math.min(3, held.start.length)));
      }
      assert.deepEqual([...held.take()], all);
      assert.deepEqual([held.length, held.capacity], [0, 0]);
    }),
    { numRuns: runs(50) },
  );
});

Deno.test("a read of which a message uses little is not kept after the next read", () => {
  const held = new Pieces();
  for (let i = 0; i < 100; i++) held.append(new Uint8Array(READ).subarray(100, 100 + 5000), 1_000_000);
  assert.ok(held.capacity <= 100 * 5000 + READ, `${held.capacity} bytes`);
});

Deno.test("a message of a MiB and more keeps no read, little memory beside its bytes, and is a run of its own", () => {
  const held = new Pieces();
  const total = 1_500_000;
  const sent = Uint8Array.from({ length: total }, (_, i) => i % 251);
  held.append(sent.slice(0, 5), 5);
  for (let at = 5, size = 1; at < total; at += size, size = 1 + size * 7 % 30_011) {
    const read = new Uint8Array(READ);
    const piece = read.subarray(0, Math.min(size, total - at));
    piece.set(sent.subarray(at, at + piece.length));
    held.append(piece, total);
    read.fill(255); // a kept view would change
    assert.ok(held.capacity <= held.length + READ + 64, `${held.capacity} bytes for ${held.length}`);
  }
  const bytes = held.take();
  assert.deepEqual(bytes, sent);
  assert.equal(bytes.buffer.byteLength, total);
  assert.deepEqual([held.length, held.capacity], [0, 0]);
});

Deno.test("large pieces are not copied before the end", () => {
  const held = new Pieces();
  const read = new Uint8Array(READ);
  held.append(read.subarray(0, 16384), 32768);
  held.append(read.subarray(16384, 32768), 32768);
  read[5] = 7; // a copy would keep the old byte
  assert.equal(held.take()[5], 7);
});
