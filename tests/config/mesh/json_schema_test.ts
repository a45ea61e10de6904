/**
 * The printed JSON Schemas of the mesh files judge like the reader, except for unknown fields, which the schemas
 * refuse.
 */
import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import fc from "fast-check";
import { Findings } from "../../../lib/finding/findings.ts";
import { MESH_FILE_NAMES, type MeshFileName } from "../../../lib/config/mesh/json_schema.ts";
import { defaultMeshConfig } from "../../../lib/config/mesh/merge.ts";
import { writtenMeshConfig } from "../../../lib/config/mesh/print.ts";
import { parseMeshConfig, parseMeshNetworks } from "../../../lib/config/mesh/parse.ts";
import { meshConfig, meshNetworks } from "../../../lib/config/mesh/schema.ts";
import { DecodeContext, type Field, isObject } from "../../../lib/config/schema/field.ts";
import { parseYaml } from "../../../lib/config/yaml/parse.ts";
import { splitDocuments } from "../../../lib/config/yaml/split.ts";
import { writtenTrees } from "./written_trees.ts";
import { runs } from "../../properties.ts";

const REFERENCE = new URL("../../../docs/reference/schemas/", import.meta.url);
const FILES = new URL("../../testdata/mesh/", import.meta.url);
const OPTIONS = { systemNamespace: "mesh-system" };
const DATA = new URL("../../testdata/translate/", import.meta.url);

const FIELDS: Readonly<Record<MeshFileName, Field<unknown>>> = { MeshConfig: meshConfig, MeshNetworks: meshNetworks };

function compiled(name: MeshFileName): ValidateFunction {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
  return ajv.compile(JSON.parse(Deno.readTextFileSync(new URL(`${name}.json`, REFERENCE))));
}

const SCHEMAS = Object.fromEntries(MESH_FILE_NAMES.map((name) => [name, compiled(name)]));

function validates(name: MeshFileName, tree: unknown): boolean {
  return SCHEMAS[name]!(tree) as boolean;
}

/** Decoding; unknown fields count as errors. */
function decodes(name: MeshFileName, tree: unknown): boolean {
  const report = new Findings();
  FIELDS[name].decode(tree, new DecodeContext("", report));
  return !report.failed;
}

/** Mesh configurations of goldens, in the users' form. */
function* meshesOfTestdata(): Iterable<{ readonly file: string; readonly mesh: unknown }> {
  for (const area of Deno.readDirSync(DATA)) {
    const folder = new URL(`${area.name}/`, DATA);
    for (const { name } of Deno.readDirSync(folder)) {
      const bytes = Deno.readFileSync(new URL(name, folder));
      for (const { start, end } of splitDocuments(bytes)) {
        const parsed = parseYaml(new TextDecoder().decode(bytes.subarray(start, end)));
        const tree = "tree" in parsed ? parsed.tree : undefined;
        if (isObject(tree) && tree["kind"] === "Golden" && tree["mesh"] !== undefined) {
          yield { file: `${area.name}/${name}`, mesh: tree["mesh"] };
        }
      }
    }
  }
}

Deno.test("mesh files of the test data are read without findings and are valid; with a misspelled field they are not", () => {
  const files = [...Deno.readDirSync(FILES)].map(({ name }) => name).sort();
  assert.deepEqual(files, ["istio.yaml", "mesh.yaml", "networks.yaml"]);
  for (const file of files) {
    const text = Deno.readTextFileSync(new URL(file, FILES));
    const name = file === "networks.yaml" ? "MeshNetworks" : "MeshConfig";
    const { findings } = name === "MeshNetworks" ? parseMeshNetworks(text) : parseMeshConfig(text, OPTIONS);
    assert.deepEqual(findings, [], file);
    const parsed = parseYaml(text);
    assert.ok("tree" in parsed && isObject(parsed.tree));
    const tree: Readonly<Record<string, unknown>> = parsed.tree;
    assert.ok(validates(name, tree), `${file}: ${JSON.stringify(SCHEMAS[name]!.errors)}`);
    for (const key of Object.keys(tree)) {
      const { [key]: value, ...rest } = tree;
      assert.ok(!validates(name, { ...rest, [`${key}q`]: value }), `${file} ${key}`);
    }
  }
});

Deno.test("mesh configurations of the worlds that translation is tested with are valid, written as a mesh file", () => {
  let count = 0;
  for (const { file, mesh } of meshesOfTestdata()) {
    assert.ok(validates("MeshConfig", mesh), `${file}: ${JSON.stringify(SCHEMAS["MeshConfig"]!.errors)}`);
    count += 1;
  }
  assert.ok(count > 5, `${count} meshes`);
});

Deno.test("an empty file, the printed defaults and Istio's spellings are valid", () => {
  assert.ok(validates("MeshConfig", null) && validates("MeshNetworks", null));
  assert.ok(validates("MeshConfig", writtenMeshConfig(defaultMeshConfig({ systemNamespace: "x" }))));
  assert.ok(validates("MeshConfig", {
    enableEnvoyAccessLogService: true,
    connect_timeout: "5s",
    extensionProviders: [{ name: "a", envoyExtAuthzGrpc: { service: "b.c", port: 9000 } }],
  }));
  assert.ok(!validates("MeshConfig", { connectTimeout: 5 }));
});

for (const name of MESH_FILE_NAMES) {
  Deno.test(`${name}: the schema judges any tree as decoding does, right or wrong`, () => {
    const seen = { true: 0, false: 0 };
    fc.assert(
      fc.property(fc.oneof(writtenTrees(FIELDS[name]), writtenTrees(FIELDS[name], true)), (tree) => {
        // A null document is an empty file; a decoder never gets null.
        if (tree === null) return;
        const mine = decodes(name, tree);
        seen[`${mine}`] += 1;
        assert.equal(validates(name, tree), mine, JSON.stringify(tree));
      }),
      { numRuns: runs(300) },
    );
    assert.ok(seen.true > 10 && seen.false > 10, JSON.stringify(seen));
  });
}

Deno.test("every named definition, and each of its fields, has a description", () => {
  const silent: string[] = [];
  for (const name of MESH_FILE_NAMES) {
    const { $defs } = JSON.parse(Deno.readTextFileSync(new URL(`${name}.json`, REFERENCE))) as {
      readonly $defs: Record<string, { description?: string; properties: Record<string, Record<string, unknown>> }>;
    };
    for (const [type, { description, properties }] of Object.entries($defs)) {
      if (type.includes(".")) continue;
      if (!description) silent.push(`${name} ${type}`);
      for (const [field, schema] of Object.entries(properties)) {
        if (!schema["description"] && !("$ref" in schema)) silent.push(`${name} ${type}.${field}`);
      }
    }
  }
  assert.deepEqual(silent, []);
});
