import assert from "node:assert/strict";
import { FolderIndex } from "../../lib/folder/index.ts";
import { formatFinding } from "../../lib/finding/finding.ts";
import { MESH_KINDS } from "../../lib/config/kinds/kinds.ts";

const FOLDER = new URL("../testdata/config/samples/", import.meta.url);

Deno.test("configuration as people keep it for Istio loads unmodified: every kind, no problem, our spelling inside", () => {
  const index = new FolderIndex({ defaultNamespace: "default", source: "" });
  const files = ["routing.yaml", "external.yaml", "policies.yaml"];
  const changes = index.apply(files.map((path) => ({ path, bytes: Deno.readFileSync(new URL(path, FOLDER)) })));
  assert.deepEqual(index.findings().map(formatFinding), []);
  assert.deepEqual([...new Set(changes.upserted.map((object) => object.kind))].sort(), [...MESH_KINDS].sort());
  // Only the origin keeps the spelling, for messages.
  const text = JSON.stringify(changes.upserted.map(({ meta, spec, key }) => ({ meta, spec, key })));
  assert.ok(changes.upserted.every(({ origin }) => origin.from === "file" && origin.written !== undefined));
  for (const word of ["ISTIO_MUTUAL", ".istio.io/"]) assert.ok(!text.includes(word), word);
  assert.ok(text.includes('"mode":"MESH_MUTUAL"'));
  assert.ok(text.includes('"security.mesh.io/tlsMode":"mesh"'));
});
