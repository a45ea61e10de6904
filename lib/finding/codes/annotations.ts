/**
 * Annotations of an orchestrator's objects.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** One row for each sort. */
export const ANNOTATION_ROWS = {
  "misplaced-annotation": {
    code: "MSH0107",
    title: "annotation of another kind",
    meaning: "An object has an annotation that belongs to objects of another kind.",
    effect: "It does nothing.",
    fix: "Move it to where it belongs; those of pods stand in spec.template.metadata of a Deployment.",
  },
  "wrong-annotation": {
    code: "MSH0125",
    title: "wrong value of an annotation",
    meaning: "An annotation has a value that means nothing there.",
    effect: "The injector refuses the pod.",
    fix: "Write a value that is expected there.",
  },
  "deprecated-annotation": {
    code: "MSH0135",
    title: "deprecated annotation",
    meaning: "An annotation has been replaced, or does nothing any more.",
    effect: "Later versions may pass it over.",
    fix: "Write what replaces it.",
  },
  "alpha-annotation": {
    code: "MSH0136",
    title: "annotation of an alpha feature",
    meaning: "An annotation belongs to a feature that is not settled.",
    effect: "Later versions may treat it otherwise.",
    fix: "Look at the release notes before each upgrade.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
