/**
 * Clusters, listeners and configurations of extensions that patches add to a proxy.
 *
 * @module
 */
import type { CompiledPatch, PatchContext, PatchTarget } from "./types.ts";

/**
 * The patches that add something to a side. One for any side adds once: to the outbound side of sidecars, and to
 * gateways.
 *
 * @param context The side; undefined: of any.
 */
export function addedOnes(
  patches: readonly CompiledPatch[],
  target: PatchTarget,
  context: PatchContext | undefined,
): readonly CompiledPatch[] {
  return patches.filter(({ applyTo, operation, context: wanted }) => {
    if (applyTo !== target || operation !== "ADD") return false;
    if (context === undefined) return true;
    return wanted === "ANY" ? context !== "SIDECAR_INBOUND" : wanted === context;
  });
}
