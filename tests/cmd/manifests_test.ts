import assert from "node:assert/strict";
import { definitionsText, webhooksText } from "../../scripts/gen_manifests.ts";

Deno.test("the definitions in manifests/ are those of the kinds; deno task manifests writes them", async () => {
  const path = new URL("../../manifests/definitions.yaml", import.meta.url);
  assert.equal(await definitionsText(), await Deno.readTextFile(path));
});

Deno.test("the mutating webhook in manifests/ has the entries of the injector; deno task manifests writes them", async () => {
  const written = await Deno.readTextFile(new URL("../../manifests/webhooks.yaml", import.meta.url));
  assert.equal(webhooksText(written), written);
});
