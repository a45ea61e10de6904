/**
 * The Sidecars of a namespace and their imports.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { type HostImport, parseImports } from "../../mesh/imports.ts";
import type { AnalysisReader } from "../reader/reader.ts";

export type SidecarObject = ConfigObject<"Sidecar">;

/** Whether a Sidecar is for all workloads of its namespace, and in the root namespace for those of the mesh. */
export function isDefaultSidecar({ spec: { workloadSelector } }: SidecarObject): boolean {
  return Object.keys(workloadSelector?.labels ?? {}).length === 0;
}

/** The Sidecars for the whole mesh. */
export function meshSidecars(read: AnalysisReader): SidecarObject[] {
  return read.objectsIn("Sidecar", read.meshConfig.rootNamespace).filter(isDefaultSidecar);
}

/** The Sidecars that workloads of a namespace may have; where none of them is for all, some workloads have none. */
export function sidecarsFor(client: string, read: AnalysisReader): readonly SidecarObject[] {
  const own = read.objectsIn("Sidecar", client);
  return own.some(isDefaultSidecar) ? own : [...own, ...meshSidecars(read)];
}

/** The imports of a Sidecar for workloads of a namespace; undefined: everything exported to them. */
export function importsFor(
  { spec: { egress = [] } }: SidecarObject,
  client: string,
): readonly HostImport[] | undefined {
  return egress.length === 0 ? undefined : egress.flatMap(({ hosts }) => parseImports(hosts, client));
}
