import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { packedEntry, unpackedEntry } from "../../lib/status/packed_entry.ts";
import { runs } from "../properties.ts";

Deno.test("an entry has the text that was packed", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme" }), async (text) => {
      assert.equal(await unpackedEntry(await packedEntry(text)), text);
    }),
    { numRuns: runs(30) },
  );
});

Deno.test("a text that does not fit into a config map is not packed", async () => {
  const half = randomBytes(320_000).toString("hex");
  assert.ok((await packedEntry(half))!.length < 1_048_576);
  assert.equal(await packedEntry(half + randomBytes(640_000).toString("hex")), undefined);
});

Deno.test("what is not a packed text is refused, and so is a short entry with a very long text", async () => {
  const bomb = await packedEntry("0".repeat(64 * 1024 * 1024 + 1));
  assert.ok(bomb!.length < 100_000);
  const cases: [unknown, RegExp][] = [
    [undefined, /got undefined, expected a text in gzip/],
    [7, /got number, expected a text in gzip/],
    ["!", /./],
    [btoa("no gzip"), /./],
    ["A".repeat(1_200_001), /got 1200001 characters, expected at most 1200000/],
    [bomb, /longer than 67108864 bytes/],
  ];
  for (const [entry, words] of cases) await assert.rejects(unpackedEntry(entry), words);
});
