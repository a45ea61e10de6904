/** Objects and mesh configuration on the pages for users are valid, without a finding. */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { KINDS } from "../../lib/config/kinds/kinds.ts";
import { parseMeshConfig } from "../../lib/config/mesh/parse.ts";
import { parseObject } from "../../lib/config/object.ts";
import { inFile } from "../config/origins.ts";

const folder = new URL("../../docs/users/", import.meta.url);
const pages = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith(".md")).sort();

const OURS: ReadonlySet<unknown> = new Set([...KINDS, "EnvoyFilter"]);
const OF_MESH = /^(?:extensionProviders|defaultProviders|defaultConfig):/m;

/** Findings about the blocks of a page; blocks with a part of an object are skipped. */
function findingsOf(page: string): { readonly shown: number; readonly found: string[] } {
  const text = Deno.readTextFileSync(new URL(page, folder));
  const found: string[] = [];
  let shown = 0;
  for (const [, block = ""] of text.matchAll(/```yaml\n([^]*?)```/g)) {
    if (!block.includes("kind:") && OF_MESH.test(block)) {
      shown += 1;
      found.push(...parseMeshConfig(block, { systemNamespace: "mesh-system" }).findings.map(({ message }) => message));
    }
    for (const document of parseAllDocuments(block)) {
      const tree = document.toJS() as { readonly apiVersion?: string; readonly kind?: string } | null;
      if (tree?.apiVersion === undefined || !OURS.has(tree.kind)) continue;
      shown += 1;
      const { findings } = parseObject(tree, inFile(page), { defaultNamespace: "default" });
      found.push(...findings.map(({ message }) => message));
    }
  }
  return { shown, found };
}

for (const page of pages) {
  Deno.test(`what docs/users/${page} shows is taken without a finding`, () => {
    assert.deepEqual(findingsOf(page).found, []);
  });
}

Deno.test("the pages show objects", () => {
  const shown = pages.reduce((sum, page) => sum + findingsOf(page).shown, 0);
  assert.ok(shown > 10, `${shown} objects`);
});
