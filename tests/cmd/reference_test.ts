import assert from "node:assert/strict";
import { referencePages, schemaPages } from "../../scripts/gen_reference.ts";

for (const [name, text] of Object.entries({ ...referencePages(), ...await schemaPages() })) {
  Deno.test(`docs/reference/${name} is what the catalogues say (else: deno task reference)`, () => {
    const page = Deno.readTextFileSync(new URL(`../../docs/reference/${name}`, import.meta.url));
    assert.equal(page === text, true, `docs/reference/${name} is stale: run deno task reference`);
  });
}
