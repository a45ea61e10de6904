/**
 * Applies patches one by one, so that one which throws skips itself alone. One that may refuse requests is not skipped:
 * what it was to change becomes something that every Envoy rejects.
 *
 * @module
 */
import { mayRefuse } from "./guards.ts";
import type { CompiledPatch, ReportPatch } from "./types.ts";
import { spoiled } from "./unusable.ts";

/**
 * The result of one patch; the value before, where a harmless one throws.
 *
 * @param before The message of the patch's target.
 * @param apply Gives a new value, or the same where the patch changes nothing there. Pure.
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
    const outcome = { patch, error: error instanceof Error ? error.message : String(error) };
    if (!mayRefuse(patch)) {
      report(outcome);
      return before;
    }
    report({ ...outcome, closes: true });
    return spoiled(patch, before);
  }
}
