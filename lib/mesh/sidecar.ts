/**
 * The Sidecar of a workload.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import { type SelectableWorkload, SelectionIndex } from "./selection/index.ts";

/**
 * The Sidecar of a workload: the oldest in the workload's namespace that selects the workload by labels, else the
 * oldest without a selector, else the oldest without a selector in the root namespace.
 */
export function sidecarOf(
  index: SelectionIndex<"Sidecar">,
  workload: SelectableWorkload,
): ConfigObject<"Sidecar"> | undefined {
  const { root, namespace, workload: chosen } = index.select(workload);
  return chosen[0] ?? namespace[0] ?? root[0];
}
