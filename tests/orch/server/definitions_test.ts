/**
 * The definitions of `manifests/` on a real API server. The server judges the samples of the kinds as a second opinion
 * beside validation.
 */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { ApiError } from "../../../lib/orch/client/api_error.ts";
import { DEFINED_VERSION } from "../../../lib/config/kinds/definition.ts";
import { isGatewayApiKind, MESH_KINDS, type MeshKind } from "../../../lib/config/kinds/kinds.ts";
import { parseObject } from "../../../lib/config/object.ts";
import { isObject } from "../../../lib/config/schema/field.ts";
import { groupOfKind, lookupKind, pluralOfKind } from "../../../lib/config/spelling/spelling.ts";
import { inFile } from "../../config/origins.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import type { ObjectDraft, ObjectId } from "../support/server/objects.ts";
import { apiServerTests } from "../support/server/tests.ts";

const root = new URL("../../../", import.meta.url).pathname;
const test = apiServerTests();

/** What a file of cases says of a spec. */
interface SpecSample {
  readonly case: string;
  readonly errors?: readonly string[];
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly spec: unknown;
}

/**
 * Samples refused by definitions and accepted by validation: underscores in names, numbers for names of enumerations.
 */
const STRICTER = new Set(["everything at once, snake_case too", "enumerations as numbers"]);

/** Names with underscores are unknown to definitions. */
const UNDERSCORES = /unknown field "[^"]*_[^"]*"/;

/** The server's words about null for the name of an enumeration: no other fields refuse null. */
const NULL_NAME = /must be of type string: "null"/;

function documents(path: string): unknown[] {
  return parseAllDocuments(Deno.readTextFileSync(root + path)).map((document) => document.toJS());
}

/** Makes the definitions known. Later tests define them again, without cost. */
async function define({ objects }: ApiServer): Promise<void> {
  for (const definition of documents("manifests/definitions.yaml")) {
    await objects.define(definition as ObjectDraft & ObjectId);
  }
}

/** The server's words about an object in a dry run; undefined: the server accepts the object. */
async function refusal({ client }: ApiServer, kind: MeshKind, namespace: string, spec: unknown) {
  const version = `${groupOfKind(kind)}.mesh.io/${DEFINED_VERSION}`;
  const path = `/apis/${version}/namespaces/${namespace}/${pluralOfKind(kind)}?dryRun=All&fieldValidation=Strict`;
  const body = { apiVersion: version, kind, metadata: { name: "sample", namespace }, spec };
  try {
    await client.tell({ method: "POST", path, body });
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 422 || error.status === 400)) return error.message;
    throw error;
  }
}

/** Whether validation takes a spec. */
function takes(kind: MeshKind, spec: unknown, meta: Readonly<Record<string, unknown>> = {}): boolean {
  const head = { apiVersion: `${groupOfKind(kind)}.mesh.io/v1`, kind, metadata: { name: "sample", ...meta } };
  return parseObject({ ...head, spec }, inFile("sample.yaml"), { defaultNamespace: "default" }).object !== undefined;
}

function samplesOf(kind: MeshKind): readonly SpecSample[] {
  return documents(`tests/testdata/config/kinds/${kind}.yaml`)[0] as readonly SpecSample[];
}

test("each sample that validation takes is taken, but two that definitions have no words for", async ({ server, namespace }) => {
  await define(server);
  const refused: string[] = [];
  for (const kind of MESH_KINDS) {
    for (const { case: name, errors = [], spec } of samplesOf(kind)) {
      if (errors.length === 0 && await refusal(server, kind, namespace, spec) !== undefined) refused.push(name);
    }
  }
  assert.deepEqual(new Set(refused), STRICTER);
});

test("samples are refused with the field named, or are listed as refused by validation only", async ({ server, namespace }) => {
  await define(server);
  const lines: string[] = [];
  for (const kind of MESH_KINDS) {
    for (const { case: name, errors = [], spec } of samplesOf(kind)) {
      if (errors.length === 0) continue;
      const said = await refusal(server, kind, namespace, spec);
      if (said !== undefined) assert.match(said, /spec/, `${kind}: ${name}`);
      lines.push(
        `${kind}: ${name}: ${said === undefined ? "only validation refuses it" : "refused by the definition"}`,
      );
    }
  }
  const golden = `${root}tests/testdata/orch/definitions.txt`;
  if (Deno.env.get("UPDATE_GOLDENS") === "1") await Deno.writeTextFile(golden, lines.join("\n") + "\n");
  assert.deepEqual(lines, (await Deno.readTextFile(golden)).trimEnd().split("\n"));
});

test("what validation takes with null for a field is taken, but for the name of an enumeration", async ({ server, namespace }) => {
  await define(server);
  let count = 0;
  for (const kind of MESH_KINDS) {
    for (const { case: name, errors = [], spec } of samplesOf(kind)) {
      if (errors.length > 0 || STRICTER.has(name)) continue;
      for (const changed of withNulls(spec)) {
        if (!takes(kind, changed)) continue;
        const said = await refusal(server, kind, namespace, changed);
        if (said === undefined) count++;
        else assert.match(said, NULL_NAME, `${kind}: ${name}: ${JSON.stringify(changed)}: ${said}`);
      }
    }
  }
  assert.ok(count > 250, `${count}`);
});

/** A value with null in the place of one field, for each field. */
function withNulls(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    return value.flatMap((part, index) => withNulls(part).map((changed) => value.with(index, changed)));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    [null, ...withNulls(part)].map((changed) => ({ ...value, [key]: changed }))
  );
}

test("examples, samples and goldens in either spelling are accepted under our groups", async ({ server, namespace }) => {
  await define(server);
  let count = 0;
  for (const path of ["examples", "tests/testdata/config/samples", "tests/testdata/translate"].flatMap(yamlFiles)) {
    for (const tree of documents(path)) {
      if (!isObject(tree) || typeof tree["apiVersion"] !== "string" || typeof tree["kind"] !== "string") continue;
      const found = lookupKind(tree["apiVersion"], tree["kind"]);
      if (!found.known || isGatewayApiKind(found.kind)) continue;
      if (!takes(found.kind, tree["spec"], tree["metadata"] as Record<string, unknown>)) continue;
      const said = await refusal(server, found.kind, namespace, tree["spec"]);
      if (said === undefined) count++;
      else assert.match(said, UNDERSCORES, `${path}: ${JSON.stringify(tree["spec"])}: ${said}`);
    }
  }
  assert.ok(count > 200, `${count}`);
});

function yamlFiles(folder: string): string[] {
  return [...Deno.readDirSync(root + folder)].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return yamlFiles(`${folder}/${name}`);
    return name.endsWith(".yaml") ? [`${folder}/${name}`] : [];
  });
}
