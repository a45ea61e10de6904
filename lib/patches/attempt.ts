/**
 * Applies patches one by one, so that one which throws skips itself alone.
 *
 * @module
 */
import type { CompiledPatch, ReportPatch } from "./types.ts";

/**
 * The result of one patch; the value before, where it throws.
 *
 * @param apply Gives a new value, or the same where the patch changes nothing there. Pure.
 */
export function attempted<T>(patch: CompiledPatch, before: T, report: ReportPatch, apply: (before: T) => T): T {
  try {
    const after = apply(before);
    if (after !== before) report({ patch });
    return after;
  } catch (error) {
    report({ patch, error: error instanceof Error ? error.message : String(error) });
    return before;
  }
}
