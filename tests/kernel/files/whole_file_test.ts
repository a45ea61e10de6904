import assert from "node:assert/strict";
import { prepareFile, removeUnfinishedFiles, writeWholeFile } from "../../../lib/kernel/files/whole_file.ts";

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

Deno.test("a file is replaced as a whole, and a failed replacement leaves nothing behind", async () => {
  const folder = await Deno.makeTempDir();
  await writeWholeFile(`${folder}/a`, "first", 0o600);
  await writeWholeFile(`${folder}/a`, "second", 0o600);
  assert.deepEqual([await Deno.readTextFile(`${folder}/a`), namesIn(folder)], ["second", ["a"]]);
  await Deno.mkdir(`${folder}/b/inside`, { recursive: true });
  await assert.rejects(writeWholeFile(`${folder}/b`, "text", 0o600));
  await assert.rejects(prepareFile(`${folder}/none/c`, "text", 0o600));
  assert.deepEqual(namesIn(folder), ["a", "b"]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("what a killed process left of the named files is removed, and no file of others", async () => {
  const folder = await Deno.makeTempDir();
  const { beside } = await prepareFile(`${folder}/a`, "text", 0o600);
  await prepareFile(`${folder}/other`, "text", 0o600);
  await Deno.writeTextFile(`${folder}/a.12345678`, "");
  await Deno.writeTextFile(`${folder}/.a.backup`, "");
  await removeUnfinishedFiles(folder, ["a"], /^a\.[0-9]{8}$/);
  const left = namesIn(folder);
  assert.equal(left.length, 2);
  assert.ok(!left.includes(beside.slice(folder.length + 1)) && left.includes(".a.backup"), left.join());
  await removeUnfinishedFiles(`${folder}/none`, ["a"]);
  await Deno.remove(folder, { recursive: true });
});
