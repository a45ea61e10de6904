/**
 * Status of XMeshes of our controller.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import type { AttachOptions } from "../attach/types.ts";
import { meshVerdict } from "../attach/meshes.ts";
import { MESH_FEATURES } from "../features.ts";
import { changedStatus } from "./change.ts";
import { isJudgedLater, mergedConditions, type StatusJson } from "./conditions.ts";

/**
 * The new status of an XMesh; undefined: nothing to write, or the mesh of another implementation.
 *
 * @param present The status as it was read.
 */
export function meshStatus(
  { meta: { generation = 0 }, spec }: ConfigObject<"XMesh">,
  options: Pick<AttachOptions, "controllers" | "experimental">,
  present: StatusJson,
  now: string,
): StatusJson | undefined {
  const Accepted = meshVerdict(spec, options);
  if (Accepted === undefined || isJudgedLater(present["conditions"], ["Accepted"], generation)) return undefined;
  return changedStatus(present, {
    conditions: mergedConditions(present["conditions"], { Accepted }, { generation, now }),
    supportedFeatures: MESH_FEATURES.map((name) => ({ name })),
  });
}
