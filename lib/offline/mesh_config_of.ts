/**
 * The mesh configuration that lies among the files of a command, in the objects that usually have one.
 *
 * @module
 */
import { carriedIn, type CarriedMesh } from "../config/mesh/carried.ts";
import type { FileRead } from "../folder/index.ts";

/** A mesh configuration among the files. */
export interface FoundMeshConfig {
  /** YAML or JSON. */
  readonly text: string;
  /** Where it is from, for people: `IstioOperator istio-system/main, install.yaml:1`. */
  readonly name: string;
}

/**
 * The mesh configuration of some files: where there is one, or where all say the same; undefined: there is none, or
 * several that differ, of which a reader would have to guess one.
 */
export function meshConfigOf(reads: readonly FileRead[], defaultNamespace = "default"): FoundMeshConfig | undefined {
  let first: CarriedMesh & { readonly path: string } | undefined;
  for (const { path, bytes } of reads) {
    if (!(bytes instanceof Uint8Array)) continue;
    for (const carried of carriedIn(bytes, { json: path.endsWith(".json"), defaultNamespace })) {
      first ??= { ...carried, path };
      if (carried.identity !== first.identity) return undefined;
    }
  }
  return first && { text: first.text, name: `${first.object}, ${first.path}:${first.line}` };
}
