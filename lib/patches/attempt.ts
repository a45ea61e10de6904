/**
 * Applies patches one by one. A throwing patch skips only itself. But a patch that may refuse requests is never
 * skipped: its target becomes a message that every Envoy rejects.
 *
 * @module
 */
import { errorMessage } from "../kernel/text/error_message.ts";
import { mayRefuse } from "./guards.ts";
import type { CompiledPatch, ReportPatch } from "./types.ts";
import { spoiled } from "./unusable.ts";

/**
 * The result of a patch, or the previous value if a harmless patch throws.
 *
 * @param before The message of the patch's target.
 * @param apply Returns a new value, or the same value if the patch changes nothing. Pure.
 */
export function attempted<T extends object>(
  patch: CompiledPatch,
  before: T,
  report: ReportPatch,
  apply: (before: T) => T,
): T {
  if (patch.unusable !== undefined && patch.operation === "MERGE") {
    report({ patch });
    return spoiled(patch, before);
  }
  try {
    const after = apply(before);
    if (after !== before) report({ patch });
    return after;
  } catch (error) {
    const outcome = { patch, error: errorMessage(error) };
    if (!mayRefuse(patch)) {
      report(outcome);
      return before;
    }
    report({ ...outcome, closes: true });
    return spoiled(patch, before);
  }
}
