import assert from "node:assert/strict";
import { definitionsText } from "../../scripts/gen_manifests.ts";

Deno.test("the definitions in manifests/ are those of the kinds; deno task manifests writes them", async () => {
  const path = new URL("../../manifests/definitions.yaml", import.meta.url);
  assert.equal(await definitionsText(), await Deno.readTextFile(path));
});
