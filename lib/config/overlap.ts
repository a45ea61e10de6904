/**
 * Findings about objects that two files or two sources have.
 *
 * @module
 */
import { fieldFinding, type Finding, type FindingPlace } from "./finding/finding.ts";
import type { FindingName } from "./finding/codes.ts";
import { describeOrigin } from "./finding/origin.ts";
import type { HiddenObject, StoredObject } from "./store.ts";

/** The finding about an object that another one of the same source shadows. */
export function duplicateFinding(loser: StoredObject, winner: StoredObject): Finding {
  const expected = "each object once";
  const where = describeOrigin(winner.origin);
  return overlap(
    "duplicate-object",
    "error",
    loser,
    expected,
    `is also in ${where}, which is used; expected ${expected}`,
  );
}

/** The finding about an object that one of a source with higher precedence hides. */
export function hiddenFinding({ object, by }: HiddenObject<StoredObject>): Finding {
  const where = describeOrigin(by.origin);
  return overlap("hidden-object", "warning", object, "", `is hidden by the one in ${where}, which has precedence`);
}

function overlap(
  code: FindingName,
  severity: Finding["severity"],
  { kind, meta: { namespace, name }, origin }: StoredObject,
  expected: string,
  what: string,
): Finding {
  const line = origin.from === "file" ? origin.line : 0;
  const place: FindingPlace = { objects: [{ kind, namespace, name }], field: "metadata.name", origin, line };
  const message = `${kind} ${namespace}/${name} ${what}`;
  return { ...fieldFinding(code, severity, place, name, expected), message };
}
