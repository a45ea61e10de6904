import assert from "node:assert/strict";
import { chartTexts, manifestTexts } from "../../scripts/gen_manifests.ts";

Deno.test("manifests/ has the files and the texts of their sources; deno task manifests writes them", async () => {
  const folder = new URL("../../manifests/", import.meta.url);
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
  const texts = await manifestTexts();
  assert.deepEqual(names.sort(), Object.keys(texts).sort());
  for (const name of names) assert.equal(texts[name], await Deno.readTextFile(new URL(name, folder)), name);
});

Deno.test("charts/ has the files and the texts of their sources; deno task manifests writes them", async () => {
  const folder = new URL("../../charts/", import.meta.url);
  const texts = await chartTexts();
  assert.deepEqual(filesBelow(folder).sort(), [...texts.keys()].sort());
  for (const [path, text] of texts) assert.equal(text, await Deno.readTextFile(new URL(path, folder)), path);
});

function filesBelow(folder: URL, above = ""): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesBelow(new URL(`${name}/`, folder), `${above}${name}/`) : [`${above}${name}`]
  );
}
