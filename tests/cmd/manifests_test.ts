import assert from "node:assert/strict";
import { manifestTexts } from "../../scripts/gen_manifests.ts";

Deno.test("manifests/ has the files and the texts of their sources; deno task manifests writes them", async () => {
  const folder = new URL("../../manifests/", import.meta.url);
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
  const texts = await manifestTexts();
  assert.deepEqual(names.sort(), Object.keys(texts).sort());
  for (const name of names) assert.equal(texts[name], await Deno.readTextFile(new URL(name, folder)), name);
});
