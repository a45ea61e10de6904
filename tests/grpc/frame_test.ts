import assert from "node:assert/strict";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { storedGzipMember } from "../../lib/resource/gzip.ts";
import { frameHead, MessageReader } from "../../lib/grpc/frame.ts";
import { encodeStatusMessage, MAX_STATUS_MESSAGE, parseTimeout, RpcError } from "../../lib/grpc/status.ts";
import { runs } from "../properties.ts";

const framed = (bytes: Uint8Array, compressed = false) => Buffer.concat([frameHead(bytes.length, compressed), bytes]);

Deno.test("messages are read whole however the bytes are cut", () => {
  fc.assert(fc.property(
    fc.array(fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.boolean()), { maxLength: 20 }),
    fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }),
    (messages, cuts) => {
      const all = Buffer.concat(messages.map(([m, gzip]) => gzip ? framed(gzipSync(m), true) : framed(m)));
      const reader = new MessageReader("gzip", 1000);
      const got: Uint8Array[] = [];
      for (let at = 0, i = 0; at < all.length; i++) {
        const to = at + cuts[i % cuts.length]!;
        reader.push(all.subarray(at, to), (message) => got.push(message.slice()) > 0);
        at = to;
      }
      assert.deepEqual(got.map((m) => [...m]), messages.map(([m]) => [...m]));
      assert.equal(reader.held, 0);
    },
  ));
});

const code = (run: () => unknown): number => {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof RpcError);
    return error.code;
  }
  assert.fail("nothing was thrown");
};

Deno.test("a message above the limit is refused by its head, before it has come", () => {
  assert.equal(code(() => new MessageReader(undefined, 100).push(frameHead(101, false), () => true)), 8);
});

Deno.test("a small message that unfolds above the limit is refused", () => {
  const bomb = gzipSync(new Uint8Array(100_000));
  assert.equal(code(() => new MessageReader("gzip", 1000).push(framed(bomb, true), () => true)), 8);
});

Deno.test("unknown flags, a compressed message without encoding and broken gzip have different statuses", () => {
  assert.equal(code(() => new MessageReader(undefined, 100).push(new Uint8Array([2, 0, 0, 0, 0]), () => true)), 13);
  assert.equal(code(() => new MessageReader(undefined, 100).push(framed(gzipSync("x"), true), () => true)), 12);
  assert.equal(
    code(() => new MessageReader("gzip", 100).push(framed(new Uint8Array([1, 2, 3]), true), () => true)),
    13,
  );
});

Deno.test("a stored gzip member unpacks to its data, alone and before others", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200_000, size: "max" }), (data) => {
      const joined = Buffer.concat([storedGzipMember(data), gzipSync("tail")]);
      assert.deepEqual(gunzipSync(joined), Buffer.concat([data, Buffer.from("tail")]));
    }),
    { numRuns: runs(30) },
  );
});

Deno.test("timeouts are read in all units, and anything else is refused", () => {
  assert.deepEqual(["2H", "3M", "4S", "5m", "6000u", "7000000n"].map(parseTimeout), [
    7_200_000,
    180_000,
    4000,
    5,
    6,
    7,
  ]);
  assert.equal(parseTimeout(undefined), undefined);
  for (const bad of ["", "5", "S", "-1S", "123456789S", "1.5S", "5x"]) assert.equal(code(() => parseTimeout(bad)), 3);
});

Deno.test("a status message is printable ASCII, and decodes to itself", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (message) => {
    const encoded = encodeStatusMessage(message);
    assert.match(encoded, /^[ -~]*$/);
    assert.equal(decodeURIComponent(encoded), message);
  }));
});

Deno.test("a long status message is cut between characters", () => {
  const character = fc.constantFrom("a", "%", "é", "😀");
  fc.assert(
    fc.property(fc.array(character, { minLength: 1300, maxLength: 6000, size: "max" }), (characters) => {
      const message = characters.join("");
      const encoded = encodeStatusMessage(message);
      assert.ok(encoded.length <= MAX_STATUS_MESSAGE);
      const [, kept = ""] = /^([\s\S]*?)(?:\.\.\.)?$/.exec(decodeURIComponent(encoded)) ?? [];
      assert.ok(message.startsWith(kept));
      if (kept !== message) assert.ok(encoded.length > MAX_STATUS_MESSAGE - 12, "no more is cut than must be");
    }),
    { numRuns: runs(30) },
  );
});
