/**
 * Findings about objects in two files or two sources.
 *
 * @module
 */
import { fieldFinding, type Finding, type FindingPlace } from "../finding/finding.ts";
import type { FindingName } from "../finding/codes.ts";
import { describeOrigin } from "../finding/origin.ts";
import type { HiddenObject, StoredObject } from "./store.ts";

/** The finding about an object shadowed by another object of the same source. */
export function duplicateFinding(loser: StoredObject, winner: StoredObject): Finding {
  const expected = `each object once (it is in ${describeOrigin(winner.origin)} too, which is used)`;
  return overlap("duplicate-object", "error", loser, expected, `is there twice; expected ${expected}`);
}

/** Most files in one message. */
const MOST_NAMED = 5;

/**
 * The finding about variants of an object in other folders than the object in force. A repository has variants for each
 * environment, and the folder that is read decides which variant is meant.
 */
export function variantsFinding(losers: readonly [StoredObject, ...StoredObject[]], winner: StoredObject): Finding {
  const [first] = losers;
  const used = describeOrigin(winner.origin);
  const named = losers.slice(0, MOST_NAMED).map(({ origin }) => describeOrigin(origin));
  const others = `${named.join(", ")}${losers.length > MOST_NAMED ? `, ... (${losers.length})` : ""}`;
  const expected = `each object in one of the folders that are read (${used} is used, not ${others})`;
  const found = overlap("duplicate-object", "warning", first, expected, `is in several folders; expected ${expected}`);
  return {
    ...found,
    effect: `The one in ${used} is in force; the others do nothing.`,
    fix: "Pass only one folder, or what is built of them: kustomize build FOLDER | pilot-discovery check -",
  };
}

/** The finding about an object hidden by an object of a source with higher precedence. */
export function hiddenFinding({ object, by }: HiddenObject<StoredObject>): Finding {
  const where = describeOrigin(by.origin);
  return overlap("hidden-object", "warning", object, "", `is hidden by the object in ${where}, which has precedence`);
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
