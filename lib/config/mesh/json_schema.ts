/**
 * JSON Schema of the mesh configuration file and of the mesh networks file, for editors.
 *
 * The reader only warns of unknown fields, but the schema refuses unknown fields, so that an editor shows a misspelled
 * name.
 *
 * @module
 */
import type { Field } from "../schema/field.ts";
import { type JsonSchema, JsonSchemaPrinter, type TypeComment } from "../schema/json_schema.ts";
import { meshConfig, meshNetworks } from "./schema.ts";

/** Types of files. */
export const MESH_FILE_NAMES = ["MeshConfig", "MeshNetworks"] as const;

/** Name of such a type. */
export type MeshFileName = (typeof MESH_FILE_NAMES)[number];

const FIELDS: Readonly<Record<MeshFileName, Field<unknown>>> = { MeshConfig: meshConfig, MeshNetworks: meshNetworks };

/**
 * The schema of a file.
 *
 * @param comment The comments of the type.
 */
export function meshJsonSchema(name: MeshFileName, comment: TypeComment): JsonSchema {
  const printer = new JsonSchemaPrinter();
  const root = printer.print(FIELDS[name], comment, name);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:mesh:schema:${name}`,
    title: name,
    ...(comment.description === undefined ? {} : { description: comment.description }),
    // An empty file means the defaults.
    anyOf: [root, { type: "null" }],
    $defs: printer.definitions(),
  };
}
