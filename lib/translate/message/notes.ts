/**
 * Notes of builders, kept with the build result: settings that are not in force, and outcomes of patches.
 *
 * @module
 */
import { type Finding, lossOf } from "../../finding/finding.ts";
import type { ConfigObject } from "../../config/types.ts";
import { compileFilter } from "../../patches/compile.ts";
import type { PatchOutcome } from "../../patches/types.ts";

export type TranslationNote = Finding | PatchOutcome;

/** Takes notes while a result is built. */
export type ReportNote = (note: TranslationNote) => void;

/** The findings among notes, including failed patches. */
export function* findingsAmong(notes: Iterable<TranslationNote>): Iterable<Finding> {
  for (const note of notes) {
    if (!("patch" in note)) yield note;
    else if (note.error !== undefined) {
      const { patch: { filter, index }, error, beside = [], sort = "patch-failed" } = note;
      yield lossOf(sort, [filter, ...beside], `spec.configPatches[${index}]: ${error}`);
    }
  }
}

/**
 * Notes without outcomes of removed patches: a result stays for a while after its last proxy.
 *
 * @param filters The ProxyFilters of the mesh.
 */
export function* presentNotes(
  notes: Iterable<TranslationNote>,
  filters: Iterable<ConfigObject<"ProxyFilter">>,
): Iterable<TranslationNote> {
  const present = new Set([...filters].flatMap((filter) => compileFilter(filter).patches));
  for (const note of notes) if (!("patch" in note) || present.has(note.patch)) yield note;
}

/** Outcome of patches, among notes. */
export function* outcomesAmong(notes: Iterable<TranslationNote>): Iterable<PatchOutcome> {
  for (const note of notes) if ("patch" in note) yield note;
}
