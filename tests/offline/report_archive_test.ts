/** The archive of a report, and the tokens of services in its texts. */
import assert from "node:assert/strict";
import { type ArchivePart, writeArchive } from "../../lib/offline/report/archive.ts";
import { HIDDEN } from "../../lib/offline/report/hidden.ts";
import { withoutServiceTokens } from "../../lib/offline/report/service_tokens.ts";
import { unpacked } from "./unpacked.ts";

async function* partsAt(...paths: readonly string[]): AsyncGenerator<ArchivePart> {
  for (const path of paths) yield { path, text: path };
}

Deno.test("parts with one path, or with paths that differ in case alone, are all in the archive", async () => {
  const archive = await Deno.makeTempFile({ suffix: ".tar.gz" });
  try {
    const parts = partsAt("a/x.json", "a/x.json", "a/X.json", "b.c/x", "b.c/x");
    const last = () => ({ path: "a/x~2.json", text: "last" });
    const { writable } = await Deno.open(archive, { write: true });
    const counts = await writeArchive(parts, last, writable, { part: 1000, all: 10_000 }, new Date());
    const files = await unpacked(archive);
    assert.equal(counts.files, 6);
    assert.deepEqual(
      [...files].sort(),
      [
        ...[["a/X~3.json", "a/X.json"], ["a/x.json", "a/x.json"], ["a/x~2.json", "a/x.json"]],
        ...[["a/x~2~2.json", "last"], ["b.c/x", "b.c/x"], ["b.c/x~2", "b.c/x"]],
      ].sort(),
    );
  } finally {
    await Deno.remove(archive);
  }
});

Deno.test("tokens that services mark are taken out, and the text around them stays", async () => {
  const run = "abcdefghijklmnopqrstuvwxyz0123456789";
  const tokens = [
    `npm_${run}`,
    `xoxb-23984754863-2348975623103-${run.slice(0, 24)}`,
    `ghp_${run}`,
    `sk-ant-api03-${(run + run + run).slice(0, 93)}AA`,
  ];
  for (const token of tokens) {
    assert.equal(await withoutServiceTokens(`got ${token} and\nmore`), `got ${HIDDEN} and\nmore`, token);
  }
  assert.equal(
    await withoutServiceTokens(`a ${tokens[0]} b ${tokens[1]} c ${tokens[0]}`),
    `a ${HIDDEN} b ${HIDDEN} c ${HIDDEN}`,
  );
});
