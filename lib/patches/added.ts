/**
 * Clusters, listeners and extension configurations that patches add to a proxy.
 *
 * @module
 */
import type { CompiledPatch, PatchContext, PatchTarget } from "./types.ts";

/**
 * The patches that add a message for a context. A patch for any context adds once: on the outbound side of sidecars,
 * and at gateways.
 *
 * @param context Undefined: all contexts.
 */
export function additionsOf(
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
