/**
 * Rules and hosts of VirtualServices that hide each other.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** One row for each sort. */
export const ROUTING = {
  "hidden-rules": {
    code: "MSH0109",
    title: "host of another VirtualService",
    meaning: "Several VirtualServices have rules for one host on sidecars.",
    effect: "The oldest one decides; the rules of the others are never used.",
    fix: "Merge them into one VirtualService, or use delegates.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
