/**
 * A mesh for texts, with a given mesh configuration or the mesh configuration among the texts.
 *
 * @module
 */
import { carriedIn, type CarriedMesh } from "../config/mesh/carried.ts";
import { type Finding, findingOf, NOWHERE } from "../finding/finding.ts";
import type { FileRead } from "../folder/index.ts";
import { OfflineMesh, type OfflineMeshOptions } from "./offline_mesh.ts";

/** A mesh configuration given by a user. */
export interface GivenMeshConfig {
  readonly text: string;
  /** The file's name, for findings. Default `mesh`. */
  readonly name?: string;
}

/** The mesh configuration of a mesh of texts, and its findings. */
export type ChosenMeshConfig = Pick<
  OfflineMeshOptions,
  "meshConfig" | "meshConfigName" | "hasMeshConfig" | "meshConfigFindings"
>;

/** Options beside the mesh configuration. */
type TextsMeshOptions = Omit<OfflineMeshOptions, keyof ChosenMeshConfig>;

/** The given mesh configuration, or else the mesh configuration in the texts, or else the defaults. */
function chosenMeshConfig(reads: readonly FileRead[], given: GivenMeshConfig | undefined): ChosenMeshConfig {
  if (given !== undefined) {
    const named = given.name === undefined ? {} : { meshConfigName: given.name };
    return { meshConfig: given.text, ...named, hasMeshConfig: true };
  }
  const found = meshConfigOf(reads);
  return found === undefined
    ? { meshConfig: "" }
    : { meshConfig: found.text, meshConfigName: found.name, hasMeshConfig: true };
}

/**
 * An empty mesh for texts. An unusable mesh configuration among the texts is a finding, and the defaults replace it.
 *
 * @throws {RangeError} naming every problem of a given mesh configuration.
 */
export function meshOfReads(
  reads: readonly FileRead[],
  given: GivenMeshConfig | undefined,
  options: TextsMeshOptions,
): OfflineMesh {
  return usable(
    chosenMeshConfig(reads, given),
    given !== undefined,
    (chosen) => new OfflineMesh({ ...options, ...chosen }),
  );
}

/** Gives a mesh the mesh configuration of other texts. @throws {RangeError} As {@linkcode meshOfReads}. */
export function useMeshConfigOf(
  mesh: OfflineMesh,
  reads: readonly FileRead[],
  given: GivenMeshConfig | undefined,
): void {
  usable(chosenMeshConfig(reads, given), given !== undefined, (chosen) => mesh.useMeshConfig(chosen));
}

function usable<T>(chosen: ChosenMeshConfig, isGiven: boolean, make: (chosen: ChosenMeshConfig) => T): T {
  try {
    return make(chosen);
  } catch (error) {
    if (isGiven || !(error instanceof RangeError)) throw error;
    const found = unusable(chosen.meshConfigName ?? "", error.message);
    return make({ meshConfig: "", hasMeshConfig: true, meshConfigFindings: [found] });
  }
}

function unusable(name: string, problems: string): Finding {
  const message = `the mesh configuration of ${name} is refused: ${problems.split("\n").join("; ")}`;
  return findingOf("unusable-mesh-configuration", { severity: "error", place: NOWHERE, message });
}

/** A mesh configuration among the files. */
interface FoundMeshConfig {
  /** YAML or JSON. */
  readonly text: string;
  /** The place of the mesh configuration, for people: `IstioOperator istio-system/main, install.yaml:1`. */
  readonly name: string;
}

/**
 * The mesh configuration of some files. Undefined: no file has a mesh configuration, or several files differ, so that a
 * reader would have to guess.
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
