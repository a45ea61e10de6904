/**
 * JSON Schema of whole objects, one document for each kind.
 *
 * @module
 */
import { Findings } from "../finding/findings.ts";
import { DecodeContext, type Field } from "../schema/field.ts";
import { type JsonSchema, JsonSchemaPrinter, type TypeComment } from "../schema/json_schema.ts";
import { API_VERSIONS, groupOfKind, spellingsOfKind } from "../spelling/spelling.ts";
import type { Kind } from "./kinds.ts";
import { KIND_TABLE } from "./table.ts";

const text = { type: ["string", "null"] };
const textMap = { type: ["object", "null"], additionalProperties: { type: "string" } };

/** Metadata as it is read; other fields of it are left alone. */
const METADATA: JsonSchema = {
  description: "Name, namespace, labels and annotations.",
  type: "object",
  properties: {
    name: { description: "Letters, digits, - and ., at most 253.", type: "string", minLength: 1, maxLength: 253 },
    namespace: { description: "Absent: the default namespace of the source.", ...text },
    labels: textMap,
    annotations: textMap,
    creationTimestamp: { description: "Older objects win conflicts.", ...text },
  },
  required: ["name"],
};

/**
 * The schema of objects of a kind, in both spellings.
 *
 * @param description What the kind is.
 * @param comment The comments of the kind's spec type.
 */
export function kindJsonSchema(kind: Kind, description: string, comment: TypeComment): JsonSchema {
  const printer = new JsonSchemaPrinter();
  const spec = printer.print(KIND_TABLE[kind].schema, comment, `${kind}Spec`);
  const definitions = printer.definitions();
  const group = groupOfKind(kind);
  const mustHaveSpec = !isTaken(KIND_TABLE[kind].schema, {});
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:mesh:schema:${group}.mesh.io:${kind}`,
    title: kind,
    description,
    type: "object",
    properties: {
      apiVersion: { enum: ["mesh.io", "istio.io"].flatMap((d) => API_VERSIONS.map((v) => `${group}.${d}/${v}`)) },
      kind: { enum: spellingsOfKind(kind) },
      metadata: METADATA,
      spec: mustHaveSpec ? spec : { anyOf: [spec, { type: "null" }] },
      status: { description: "Not read." },
    },
    required: ["apiVersion", "kind", "metadata", ...mustHaveSpec ? ["spec"] : []],
    additionalProperties: false,
    $defs: definitions,
  };
}

function isTaken(schema: Field<unknown>, value: unknown): boolean {
  const report = new Findings();
  schema.decode(value, new DecodeContext("spec", report));
  return !report.failed;
}
