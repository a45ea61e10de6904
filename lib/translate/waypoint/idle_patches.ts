/**
 * Patches that are for a waypoint and can find nothing there.
 *
 * @module
 */
import { type Finding, lossOf } from "../../finding/finding.ts";
import { type CompiledPatch, isFor } from "../../patches/types.ts";
import { CONNECT_ORIGINATE, CONNECT_TERMINATE, DIRECT, MAIN_INTERNAL } from "../hbone/names.ts";
import { PATCH_PARTS } from "../reader/patch_selection.ts";
import type { Reader } from "../reader/reader.ts";

/** Listeners and clusters of tunnels, which no patch changes. Chains are patched under the name `main_internal`. */
const TUNNEL_LISTENERS: ReadonlySet<string> = new Set([CONNECT_TERMINATE, CONNECT_ORIGINATE, ...Object.values(DIRECT)]);
const TUNNEL_CLUSTERS: ReadonlySet<string> = new Set([MAIN_INTERNAL, CONNECT_ORIGINATE]);

/** A finding for each such patch. The reader answers for the waypoint itself, or for a service. */
export function idlePatches(read: Reader): Finding[] {
  return PATCH_PARTS.flatMap((part) =>
    part === "extensions" ? [] : read.patches(part).flatMap((patch) => {
      const why = whyIdle(patch);
      const text = `spec.configPatches[${patch.index}] has no effect at a waypoint: ${why}`;
      return why === undefined ? [] : [lossOf("not-as-written", [patch.filter], text)];
    })
  );
}

function whyIdle(patch: CompiledPatch): string | undefined {
  const { applyTo, operation, context, listener, cluster } = patch;
  if (!isFor(patch, "SIDECAR_INBOUND")) {
    return `its context is ${context}, and a waypoint has only SIDECAR_INBOUND`;
  }
  const name = listener?.name ?? "";
  if (TUNNEL_LISTENERS.has(name)) return `the listener ${name} is not patched (filter chains of ${MAIN_INTERNAL} are)`;
  if (TUNNEL_CLUSTERS.has(cluster?.name ?? "")) return `the cluster ${cluster?.name} is not patched`;
  const isOfWhole = applyTo === "LISTENER_FILTER" || applyTo === "LISTENER" && operation === "MERGE";
  return isOfWhole ? `of the listener ${MAIN_INTERNAL}, filter chains are patched, and nothing else` : undefined;
}
