/**
 * Findings of reading texts and objects.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

const SCHEMA = {
  code: "MSH0106",
  warningCode: "MSH0133",
  warningEffect: "The object is in force; the text there may not do what it seems to.",
} as const;
const REFUSED = "The object is refused; its last good version stays in force, if it has one.";

/** The rows, by sort. */
export const READING = {
  "syntax": {
    code: "MSH1001",
    title: "text does not parse",
    meaning: "A text is neither YAML nor JSON.",
    effect: "The objects of this document stay in force as they were.",
    fix: "Correct the text at this line.",
  },
  "unreadable-file": {
    code: "MSH1002",
    title: "file cannot be read",
    meaning: "A file cannot be read, is too large, or is not UTF-8 text.",
    effect: "The last content of the file stays in force.",
    fix: "Make the file a readable text file, or remove it.",
  },
  "lost-file": {
    code: "MSH1003",
    title: "mesh file is gone",
    meaning: "A file of the mesh configuration is gone or empty.",
    effect: "The last content of the file stays in force.",
    fix: "Bring the file back; `{}` stands for the defaults.",
  },
  "unknown-kind": {
    code: "MSH1005",
    title: "unknown kind or version",
    meaning:
      "An object names a kind or version that its API group does not have, or a group that is nearly one of the mesh.",
    effect: REFUSED,
    fix: "Write a kind and version of the group.",
  },
  "unknown-field": {
    ...SCHEMA,
    title: "unknown field",
    meaning: "An object has a field that its kind does not have.",
    effect: REFUSED,
    fix: "Correct the field's name or its indentation.",
  },
  "missing-field": {
    ...SCHEMA,
    title: "missing field",
    warningTitle: "field that may be needed",
    meaning: "A required field is missing.",
    effect: REFUSED,
    fix: "Write the field.",
  },
  "wrong-value": {
    ...SCHEMA,
    title: "wrong value",
    warningTitle: "value that may not do what it seems to",
    meaning: "A field has a value without a meaning for this field.",
    effect: REFUSED,
    fix: "Write an expected value.",
  },
  "exclusive-fields": {
    ...SCHEMA,
    title: "fields exclude each other",
    meaning: "Several fields are written, but at most one of them is allowed.",
    effect: REFUSED,
    fix: "Keep one of the fields.",
  },
  "deprecated-field": {
    code: "MSH0002",
    title: "deprecated field",
    meaning: "Another field replaces this one.",
    effect: "The field acts as before; later versions may refuse it.",
    fix: "Write the replacing field.",
  },
  "too-many": {
    code: "MSH1006",
    title: "more findings than are shown",
    meaning: "One object has more findings than are shown.",
    effect: "Further findings are not shown.",
    fix: "Correct the shown findings; the others appear then.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
