/** A schema for files of all kinds: judges each document like the schema of its kind, and leaves others alone. */
import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { KINDS } from "../../lib/config/kinds/kinds.ts";
import { isObject } from "../../lib/config/schema/field.ts";
import { lookupKind } from "../../lib/config/spelling/spelling.ts";
import { parseYaml } from "../../lib/config/yaml/parse.ts";
import { documentText, splitDocuments } from "../../lib/config/yaml/split.ts";

const ROOT = new URL("../../", import.meta.url);

function compiled(name: string): ValidateFunction {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
  return ajv.compile(JSON.parse(Deno.readTextFileSync(new URL(`docs/reference/schemas/${name}.json`, ROOT))));
}

const any = compiled("mesh");
const ofKind = new Map(KINDS.map((kind) => [kind as string, compiled(kind)]));

/** The documents of all YAML files below a folder, by file and position. */
function documentsBelow(folder: URL): [string, Record<string, unknown>][] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }): [string, Record<string, unknown>][] => {
    if (isDirectory) return documentsBelow(new URL(`${name}/`, folder));
    if (!/\.ya?ml$/.test(name)) return [];
    const bytes = Deno.readFileSync(new URL(name, folder));
    return [...splitDocuments(bytes)].flatMap((range, at): [string, Record<string, unknown>][] => {
      const parsed = parseYaml(documentText(bytes, range));
      return "tree" in parsed && isObject(parsed.tree)
        ? [[`${new URL(name, folder).pathname}#${at}`, parsed.tree as Record<string, unknown>]]
        : [];
    });
  });
}

const documents = ["examples/", "tests/testdata/"]
  .flatMap((folder) => documentsBelow(new URL(folder, ROOT)));

Deno.test("every object of the examples and of the test meshes is judged as by the schema of its kind", () => {
  const judged = { right: 0, wrong: 0 };
  for (const [place, tree] of documents) {
    const found = lookupKind(String(tree.apiVersion), String(tree.kind));
    if (!found.known) continue;
    const expected = ofKind.get(found.kind)!(tree) as boolean;
    assert.equal(any(tree), expected, `${place}: ${JSON.stringify(any.errors ?? ofKind.get(found.kind)!.errors)}`);
    judged[expected ? "right" : "wrong"]++;
  }
  assert.ok(judged.right > 50 && judged.wrong > 2, JSON.stringify(judged));
});

Deno.test("the examples are right in an editor", () => {
  for (const [place, tree] of documentsBelow(new URL("examples/", ROOT))) {
    assert.equal(any(tree), true, `${place}: ${JSON.stringify(any.errors)}`);
  }
});

Deno.test("a kind or version that is misspelled is marked, objects of other groups are left alone", () => {
  const metadata = { name: "a", namespace: "b" };
  const door = { apiVersion: "networking.istio.io/v1", kind: "Gateway", metadata, spec: { servers: [] } };
  const misspelled = { ...door, kind: "Gatway" };
  const version = { ...door, apiVersion: "networking.istio.io/v7" };
  const others = [
    { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { replicas: "many" } },
    { apiVersion: "gateway.networking.x-k8s.io/v1alpha1", kind: "XOther", metadata, spec: { defaultScope: 1 } },
    { replicas: 3 },
  ];
  assert.deepEqual([misspelled, version].map((one) => any(one)), [false, false]);
  assert.deepEqual(others.map((one) => any(one)), [true, true, true]);
});

Deno.test("a mistake is marked at its field, not at the document", () => {
  any({
    apiVersion: "networking.mesh.io/v1",
    kind: "VirtualService",
    metadata: { name: "a" },
    spec: { hosts: ["a"], http: [{ timeot: "3s" }] },
  });
  const places = (any.errors ?? []).filter(({ keyword }) => keyword === "additionalProperties");
  assert.deepEqual(places.map(({ instancePath, params }) => [instancePath, params]), [
    ["/spec/http/0", { additionalProperty: "timeot" }],
  ]);
});
