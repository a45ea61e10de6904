/**
 * Mesh configuration in the form of a mesh file.
 *
 * @module
 */
import { encodeField } from "../schema/encode.ts";
import { meshConfig } from "./schema.ts";
import type { MeshConfig } from "./types.ts";

/** A mesh configuration as JSON for a mesh file: `parseMeshConfig` gives the same configuration again. */
export function writtenMeshConfig(mesh: MeshConfig): unknown {
  return encodeField(meshConfig, mesh);
}
