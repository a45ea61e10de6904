/** A printed mesh configuration is a mesh file that says the same. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { Findings } from "../../../lib/config/finding/findings.ts";
import { defaultMeshConfig, mergeMeshConfig } from "../../../lib/config/mesh/merge.ts";
import { parseMeshConfig } from "../../../lib/config/mesh/parse.ts";
import { writtenMeshConfig } from "../../../lib/config/mesh/print.ts";
import { meshConfig } from "../../../lib/config/mesh/schema.ts";
import type { MeshConfig } from "../../../lib/config/mesh/types.ts";
import { DecodeContext, type Field } from "../../../lib/config/schema/field.ts";
import { MAX_DURATION_TEXT } from "../../../lib/kernel/time/duration.ts";

const OPTIONS = { systemNamespace: "mesh-system" };

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const texts = fc.constantFrom("", "a", "b.c", "127.0.0.1:80", "*", "ISTIO_META_A", "MESH_META_A", "istio.io/a", "yes");
const durations = fc.oneof(
  fc.constantFrom("0s", "1h", "1.5s", "250ms", "3ns", "-4m", MAX_DURATION_TEXT),
  fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map((ns) => `${ns}ns`),
);

/** Any text that a field takes: each field of a message is there or not, of a group one at most. */
function written({ shape }: Field<unknown>): fc.Arbitrary<unknown> {
  switch (shape.type) {
    case "string":
      return texts;
    case "base64":
      return fc.constantFrom("", "YQ==");
    case "boolean":
      return fc.boolean();
    case "duration":
      return durations;
    case "number":
      return fc.constantFrom(0, 0.5, 100);
    case "integer":
      return fc.constantFrom(shape.minimum, shape.maximum, 0, 1);
    case "enum":
      return fc.constantFrom(...shape.names);
    case "struct":
      return fc.constantFrom({}, { a: [1, { b: "5s" }] });
    case "list":
      return fc.array(written(shape.element), { maxLength: 2 });
    case "map":
      return fc.dictionary(fc.constantFrom("a", "ISTIO_META_A", "istio.io/b", "c d"), written(shape.value), {
        maxKeys: 2,
      });
    case "message": {
      const required = Object.entries(shape.fields).filter(([, one]) => one.present === true);
      const fields = Object.fromEntries(Object.entries(shape.fields).map(([name, one]) => [name, written(one)]));
      return fc.record(fields, { requiredKeys: required.map(([name]) => name) }).map((message) => {
        const extra = shape.oneOf.flatMap((group) => group.filter((name) => Object.hasOwn(message, name)).slice(1));
        return Object.fromEntries(Object.entries(message).filter(([name]) => !extra.includes(name)));
      });
    }
  }
}

/** What a tree means, rules across fields left aside. */
function meaning(tree: unknown): MeshConfig | undefined {
  const report = new Findings();
  const decoded = meshConfig.decode(tree, new DecodeContext("", report));
  return report.failed || decoded === undefined ? undefined : mergeMeshConfig(defaultMeshConfig(OPTIONS), decoded);
}

test("what is printed of any mesh configuration reads back as the same configuration", () => {
  let count = 0;
  fc.assert(
    fc.property(written(meshConfig), (tree) => {
      const mesh = meaning(tree);
      if (mesh === undefined) return;
      count += 1;
      const text = JSON.stringify(writtenMeshConfig(mesh));
      assert.deepEqual(meaning(JSON.parse(text)), mesh, text);
    }),
    { numRuns: 150 },
  );
  assert.ok(count > 15, `${count} configurations`);
});

test("the defaults print as a file that has no findings and means the defaults", () => {
  const mesh = defaultMeshConfig({ systemNamespace: "other" });
  const { value, findings } = parseMeshConfig(JSON.stringify(writtenMeshConfig(mesh)), OPTIONS);
  assert.deepEqual(findings, []);
  assert.deepEqual(value, mesh);
});

test("durations print as text, also inside of providers and of what is below lists", () => {
  const { value } = parseMeshConfig(
    "{connectTimeout: 1500ms, extensionProviders: [{name: a, envoyExtAuthzGrpc: {service: b.c, port: 1, timeout: 2s}}]}",
    OPTIONS,
  );
  assert.ok(value !== undefined);
  const printed = writtenMeshConfig(value) as MeshConfig;
  assert.equal(printed.connectTimeout, "1.5s");
  assert.equal(printed.extensionProviders.at(-1)?.proxyExtAuthzGrpc?.timeout, "2s");
});
