/** A printed mesh configuration is a mesh file with the same meaning. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { Findings } from "../../../lib/finding/findings.ts";
import { defaultMeshConfig, mergeMeshConfig } from "../../../lib/config/mesh/merge.ts";
import { parseMeshConfig } from "../../../lib/config/mesh/parse.ts";
import { writtenMeshConfig } from "../../../lib/config/mesh/print.ts";
import { meshConfig } from "../../../lib/config/mesh/schema.ts";
import type { MeshConfig } from "../../../lib/config/mesh/types.ts";
import { DecodeContext } from "../../../lib/config/schema/field.ts";
import { writtenTrees } from "./written_trees.ts";
import { runs } from "../../properties.ts";

const OPTIONS = { systemNamespace: "mesh-system" };

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** The meaning of a tree, without rules across fields. */
function meaning(tree: unknown): MeshConfig | undefined {
  const report = new Findings();
  const decoded = meshConfig.decode(tree, new DecodeContext("", report));
  return report.failed || decoded === undefined ? undefined : mergeMeshConfig(defaultMeshConfig(OPTIONS), decoded);
}

test("any mesh configuration is printed and read back as the same configuration", () => {
  let count = 0;
  fc.assert(
    fc.property(writtenTrees(meshConfig), (tree) => {
      const mesh = meaning(tree);
      if (mesh === undefined) return;
      count += 1;
      const text = JSON.stringify(writtenMeshConfig(mesh));
      assert.deepEqual(meaning(JSON.parse(text)), mesh, text);
    }),
    { numRuns: runs(150) },
  );
  assert.ok(count > 15, `${count} configurations`);
});

test("the defaults print as a file that has no findings and means the defaults", () => {
  const mesh = defaultMeshConfig({ systemNamespace: "other" });
  const { value, findings } = parseMeshConfig(JSON.stringify(writtenMeshConfig(mesh)), OPTIONS);
  assert.deepEqual(findings, []);
  assert.deepEqual(value, mesh);
});

test("durations print as text, also inside of providers and inside of lists", () => {
  const { value } = parseMeshConfig(
    "{connectTimeout: 1500ms, extensionProviders: [{name: a, envoyExtAuthzGrpc: {service: b.c, port: 1, timeout: 2s}}]}",
    OPTIONS,
  );
  assert.ok(value !== undefined);
  const printed = writtenMeshConfig(value) as MeshConfig;
  assert.equal(printed.connectTimeout, "1.5s");
  assert.equal(printed.extensionProviders.at(-1)?.proxyExtAuthzGrpc?.timeout, "2s");
});
