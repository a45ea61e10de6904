/**
 * Findings about configuration: a common type for readers, validation, sources, translation, pages and logs.
 *
 * @module
 */
import { FINDING_ROWS, type FindingCode, type FindingName } from "./codes.ts";
import { type ObjectName, objectName, objectText } from "./object_name.ts";
import { describeOrigin, movedOrigin, type Origin, writtenKind } from "./origin.ts";

/**
 * How bad a finding is. An `error` refuses the object while objects are read; for an object in force, an `error` says
 * that a written effect is lost. A `warning` is about something probably not intended by the author. An `info` is worth
 * knowing.
 */
export type Severity = "error" | "warning" | "info";

/** The object of a finding, and where the object was written. */
export interface FindingPlace {
  /** The objects, the nearest cause first; empty: the finding is about a whole file. */
  readonly objects: readonly ObjectName[];
  /** Path from the first object: `spec.http[0].route[1].destination.host`; empty: the object as a whole. */
  readonly field: string;
  /** The origin of the first object; absent: the store knows the origin by the object's name. */
  readonly origin?: Origin;
  /**
   * 1-based line of the field, or of the value without the field. For a text that does not parse: the line of the
   * error. 0: no line.
   */
  readonly line: number;
  /** 1-based column of the field's value, or of the field if its value begins on another line; absent: not known. */
  readonly column?: number;
}

/** A fault, or a fact worth knowing. */
export interface Finding {
  /** For programs, suppressions and baselines. */
  readonly code: FindingCode;
  /** For people: the row of the catalogue. */
  readonly name: FindingName;
  readonly severity: Severity;
  readonly place: FindingPlace;
  /** The offending value as JSON, shortened to 80 characters; empty when there is none. */
  readonly value: string;
  /** The right values: "a host name", "1..65535"; empty: no particular values. */
  readonly expected: string;
  /** The whole finding in a sentence, with field, value and expectation. */
  readonly message: string;
  /** The effect for users. */
  readonly effect: string;
  /** The change that removes the finding, as advice to the user. */
  readonly fix: string;
}

/** The parts of a finding beyond its row in the catalogue. */
export interface FindingText {
  readonly severity: Severity;
  readonly place: FindingPlace;
  readonly value?: string;
  readonly expected?: string;
  readonly message: string;
  /** Default: the row's. */
  readonly effect?: string | undefined;
  /** Default: the row's. */
  readonly fix?: string | undefined;
}

/** A finding of a sort. */
export function findingOf(name: FindingName, text: FindingText): Finding {
  const row = FINDING_ROWS[name];
  const isError = text.severity === "error";
  const usual = isError ? row.effect : row.warningEffect ?? row.effect;
  const { severity, place, value = "", expected = "", message, effect = usual, fix = row.fix } = text;
  const code = isError ? row.code : row.warningCode ?? row.code;
  return { code, name, severity, place, value, expected, message, effect, fix };
}

/** The same finding as a warning, with another effect. */
export function asWarning({ name, place, value, expected, message, fix }: Finding, effect: string): Finding {
  return findingOf(name, { severity: "warning", place, value, expected, message, effect, fix });
}

/** The place of a finding without text and object. */
export const NOWHERE: FindingPlace = { objects: [], field: "", line: 0 };

/** Longest value quoted in a finding, in characters. */
const SHOWN_LENGTH = 80;

/** Longest name and field path in a finding, in characters: the longest valid name plus one. */
const NAME_LENGTH = 254;

/** A name or field path as findings show it. A hostile name is cut. */
export function shownName(name: string): string {
  return name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH - 1)}…` : name;
}

/** A value as findings show it: JSON, cut to 80 characters; empty for undefined. The cost is bounded by the cut. */
export function shownValue(value: unknown): string {
  if (value === undefined) return "";
  const text = beginningOf(value, SHOWN_LENGTH + 1);
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH - 1)}…` : text;
}

/** The JSON text of a value. Only its first characters are needed. */
function beginningOf(value: unknown, room: number): string {
  if (typeof value === "string") return JSON.stringify(value.length > room ? value.slice(0, room) : value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? String(value);
  const isList = Array.isArray(value);
  let text = isList ? "[" : "{";
  // Not Object.entries: a hostile object has a million.
  for (const key in value) {
    if (text.length > room) return text;
    if (text.length > 1) text += ",";
    if (!isList) text += `${JSON.stringify(key.slice(0, room))}:`;
    text += beginningOf((value as Readonly<Record<string, unknown>>)[key], room - text.length);
  }
  return text + (isList ? "]" : "}");
}

/** A finding about a field with the usual sentence: "FIELD: VALUE, expected EXPECTED". */
export function fieldFinding(
  name: FindingName,
  severity: Severity,
  place: FindingPlace,
  value: unknown,
  expected: string,
): Finding {
  const field = shownName(place.field);
  const shown = shownValue(value);
  const message = shown === ""
    ? `${field} is missing, expected ${expected}`
    : `${field}: ${shown}, expected ${expected}`;
  const at = field === place.field ? place : { ...place, field };
  return findingOf(name, { severity, place: at, value: shown, expected, message });
}

/**
 * A warning about objects.
 *
 * @param keys Keys of the objects (`VirtualService/ns/name`), the nearest cause first.
 * @param message A single sentence.
 */
export function warningOf(name: FindingName, keys: readonly string[], message: string): Finding {
  return objectsFinding("warning", name, keys, message);
}

/** A note about objects in force. @param keys Keys of the objects. @param message A single sentence. */
export function infoOf(name: FindingName, keys: readonly string[], message: string): Finding {
  return objectsFinding("info", name, keys, message);
}

/**
 * An error about objects in force: the first object does not work as written, wholly or in part.
 *
 * @param keys Keys of the objects, the object with the lost effect first.
 * @param message A single sentence.
 */
export function lossOf(name: FindingName, keys: readonly string[], message: string): Finding {
  return objectsFinding("error", name, keys, message);
}

/**
 * Whether a finding says that an object in force does not work as written, wholly or in part. The severity of "reaches
 * no proxy" does not decide about loss. The severity only says whether the author may know.
 */
export function isLoss({ severity, name }: Finding): boolean {
  return severity === "error" || name === "reaches-no-proxy";
}

function objectsFinding(
  severity: Severity,
  name: FindingName,
  keys: readonly string[],
  message: string,
): Finding {
  return findingOf(name, { severity, place: { objects: keys.map(objectName), field: "", line: 0 }, message });
}

/** Keys of the objects of a finding. */
export function findingKeys({ place: { objects } }: Finding): string[] {
  return objects.map(({ kind, namespace, name }) => `${kind}/${namespace}/${name}`);
}

/** Findings by object. A finding about several objects is listed under each of them. */
export function byObject(findings: Iterable<Finding>): ReadonlyMap<string, readonly Finding[]> {
  const found = new Map<string, Finding[]>();
  for (const one of findings) {
    for (const key of new Set(findingKeys(one))) found.getOrInsertComputed(key, () => []).push(one);
  }
  return found;
}

/** The name of the first object of a finding; without an object all parts are empty. */
export function findingObject({ place: { objects: [object] } }: Finding): ObjectName {
  return object ?? { kind: "", namespace: "", name: "" };
}

/** The kind of the object in its author's spelling: `EnvoyFilter` for the mesh's `ProxyFilter`. */
export function findingKind({ place: { objects: [object], origin } }: Finding): string {
  return origin === undefined || object === undefined ? object?.kind ?? "" : writtenKind(origin, object.kind);
}

/** The file of a finding, relative to its source; empty: no file. */
export function findingFile({ place: { origin } }: Finding): string {
  return origin?.from === "file" ? origin.file : "";
}

/** The same finding further down its file by some lines. */
export function movedFinding(finding: Finding, by: number): Finding {
  const { place } = finding;
  const origin = place.origin && { origin: movedOrigin(place.origin, by) };
  return { ...finding, place: { ...place, ...origin, line: place.line + by } };
}

/** The identity of a finding. A move to another line does not change the identity. */
export function findingIdentity(finding: Finding): string {
  const { name, severity, place: { objects, field, origin }, value, message } = finding;
  const source = origin === undefined ? [] : [origin.source, origin.from === "file" ? origin.file : ""];
  return JSON.stringify([name, severity, source, objects, field, value, message]);
}

/** The new and the gone findings. A finding that only moved to another line is in neither list. */
export function findingChanges(
  before: readonly Finding[],
  after: readonly Finding[],
): { readonly appeared: readonly Finding[]; readonly resolved: readonly Finding[] } {
  if (before.length === 0 && after.length === 0) return { appeared: [], resolved: [] };
  const old = new Set(before.map(findingIdentity));
  const now = new Set(after.map(findingIdentity));
  return {
    appeared: after.filter((found) => !old.has(findingIdentity(found))),
    resolved: before.filter((found) => !now.has(findingIdentity(found))),
  };
}

/** A line for people: `file:line kind namespace/name: severity: message`. */
export function formatFinding(finding: Finding): string {
  const { severity, message, place: { origin, line } } = finding;
  const at = origin?.from === "file" ? { ...origin, line } : origin;
  const where = at === undefined ? "" : describeOrigin(at);
  const object = objectText({ ...findingObject(finding), kind: findingKind(finding) });
  const place = [where, object].filter((part) => part !== "").join(" ");
  return place === "" ? `${severity}: ${message}` : `${place}: ${severity}: ${message}`;
}
