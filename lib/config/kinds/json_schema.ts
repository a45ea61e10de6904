/**
 * JSON Schema of whole objects, one document for each kind.
 *
 * @module
 */
import { Findings } from "../../finding/findings.ts";
import { DecodeContext, type Field } from "../schema/field.ts";
import { type JsonSchema, JsonSchemaPrinter, type TypeComment } from "../schema/json_schema.ts";
import { apiGroupOfKind, groupOfKind, spellingsOfKind, versionsOfKind } from "../spelling/spelling.ts";
import { isClusterWideKind, isGatewayApiKind, type Kind, MESH_KINDS } from "./kinds.ts";
import { KIND_TABLE } from "./table.ts";

const text = { type: ["string", "null"] };
const textMap = { type: ["object", "null"], additionalProperties: { type: "string" } };

/** The metadata that is read; other fields of metadata are allowed. */
const METADATA: JsonSchema = {
  description: "Name, namespace, labels and annotations.",
  type: "object",
  properties: {
    name: { description: "Letters, digits, - and ., at most 253.", type: "string", minLength: 1, maxLength: 253 },
    namespace: { description: "Absent: the default namespace of the source.", ...text },
    labels: { description: "In either spelling.", ...textMap },
    annotations: { description: "In either spelling; those of other domains are left alone.", ...textMap },
    creationTimestamp: { description: "Older objects win conflicts.", ...text },
  },
  required: ["name"],
};

const METADATA_WITHOUT_NAMESPACE: JsonSchema = {
  ...METADATA,
  properties: { ...METADATA.properties as JsonSchema, namespace: { description: "None.", enum: ["", null] } },
};

/**
 * The schema of objects of a kind, in both spellings.
 *
 * @param description Description of the kind.
 * @param comment The comments of the kind's spec type.
 */
export function kindJsonSchema(kind: Kind, description: string, comment: TypeComment): JsonSchema {
  const [title = kind] = spellingsOfKind(kind);
  const printer = new JsonSchemaPrinter();
  const spec = printer.print(KIND_TABLE[kind].schema, comment, `${kind}Spec`);
  const definitions = printer.definitions();
  const mustHaveSpec = !isTaken(KIND_TABLE[kind].schema, {});
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:mesh:schema:${apiGroupOfKind(kind)}:${title}`,
    title,
    description,
    type: "object",
    properties: {
      apiVersion: {
        description: isGatewayApiKind(kind)
          ? "Group and version; all versions mean the same."
          : "Group and version, in either spelling; all versions mean the same.",
        enum: groupsOf(kind).flatMap((group) => versionsOfKind(kind).map((version) => `${group}/${version}`)),
      },
      kind: { description, enum: spellingsOfKind(kind) },
      metadata: isClusterWideKind(kind) ? METADATA_WITHOUT_NAMESPACE : METADATA,
      spec: mustHaveSpec ? spec : { description, anyOf: [spec, { type: "null" }] },
      status: { description: "Not read." },
    },
    required: ["apiVersion", "kind", "metadata", ...mustHaveSpec ? ["spec"] : []],
    additionalProperties: false,
    $defs: definitions,
  };
}

/** The API groups of a kind. */
function groupsOf(kind: Kind): string[] {
  return [...new Set([apiGroupOfKind(kind, "mesh.io"), apiGroupOfKind(kind, "istio.io")])];
}

/**
 * One schema for files of all kinds, in both spellings: `apiVersion` and `kind` choose the kind's own schema. Documents
 * of other kinds (a Deployment, a file of values) are allowed, so that an editor's setting may name whole folders.
 *
 * @param schemas The schema of each kind. The schemas are embedded, so editors need no other file.
 */
export function anyKindJsonSchema(schemas: Readonly<Record<Kind, JsonSchema>>): JsonSchema {
  const kinds = Object.keys(schemas) as Kind[];
  const choices = kinds.map((kind) => ({
    if: {
      type: "object",
      properties: {
        // The group distinguishes kinds of the same name: Gateway.
        apiVersion: { type: "string", pattern: `^(?:${groupsOf(kind).map(literal).join("|")})(?:/|$)` },
        kind: { enum: spellingsOfKind(kind) },
      },
      required: ["apiVersion", "kind"],
    },
    then: { $ref: `#/$defs/${kind}` },
  }));
  const groups = [...new Set(MESH_KINDS.map(groupOfKind))].sort();
  const anyGroup = {
    if: {
      type: "object",
      properties: { apiVersion: { type: "string", pattern: `^(?:${groups.join("|")})\\.(?:mesh|istio)\\.io(?:/|$)` } },
      required: ["apiVersion"],
    },
    then: {
      properties: { kind: { enum: [...new Set(MESH_KINDS.flatMap(spellingsOfKind))].sort() } },
      required: ["kind"],
    },
  };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "urn:mesh:schema:mesh.io:any",
    title: "Configuration of the mesh",
    description: "Any kind of the mesh, chosen by apiVersion and kind.",
    allOf: [anyGroup, ...choices],
    $defs: Object.fromEntries(kinds.map((kind) => [kind, movedRefs(schemas[kind], `#/$defs/${kind}`)])),
  };
}

/** A text as a regular expression that matches the text. */
function literal(text: string): string {
  return text.replaceAll(".", "\\.");
}

/** A schema embedded elsewhere: references to its root get the new place. Editors differ in reading `$id`. */
function movedRefs({ $id: _id, $schema: _dialect, ...schema }: JsonSchema, place: string): JsonSchema {
  const moved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(moved);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inside]) => [
        key,
        key === "$ref" && typeof inside === "string" ? inside.replace(/^#/, place) : moved(inside),
      ]),
    );
  };
  return moved(schema) as JsonSchema;
}

function isTaken(schema: Field<unknown>, value: unknown): boolean {
  const report = new Findings();
  schema.decode(value, new DecodeContext("spec", report));
  return !report.failed;
}
