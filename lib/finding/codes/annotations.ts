/**
 * Annotations of an orchestrator's objects.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** The rows, by sort. */
export const ANNOTATION_ROWS = {
  "misplaced-annotation": {
    code: "MSH0107",
    title: "annotation of another kind",
    meaning: "An object has an annotation that belongs to objects of another kind.",
    effect: "The annotation does nothing.",
    fix:
      "Move the annotation to an object of the right kind; annotations of pods belong into spec.template.metadata of a Deployment.",
  },
  "wrong-annotation": {
    code: "MSH0125",
    title: "wrong value of an annotation",
    meaning: "An annotation has a value without a meaning for this annotation.",
    effect: "The injector refuses the pod.",
    fix: "Write an expected value.",
  },
  "deprecated-annotation": {
    code: "MSH0135",
    title: "deprecated annotation",
    meaning: "Another annotation replaces this one, or the annotation has no effect any more.",
    effect: "Later versions may ignore the annotation.",
    fix: "Write the replacement, or remove the annotation.",
  },
  "alpha-annotation": {
    code: "MSH0136",
    title: "annotation of an alpha feature",
    meaning: "An annotation belongs to a feature whose design is not final.",
    effect: "Later versions may treat the annotation differently.",
    fix: "Look at the release notes before each upgrade.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
