/**
 * JSON as Go's `encoding/json` reads it, where that differs from `JSON.parse`: numbers must fit 64 bits, nesting is
 * bounded, and a struct takes an object's members one by one, in any case of letters, so that a member counts even when
 * a later one of the same name replaces it.
 *
 * @module
 */
import { elementsAt, membersAt, skipSpace, stringEnd } from "./json_text.ts";
import { isObject } from "./network.ts";

/** Deepest nesting that Go reads (`maxNestingDepth`). */
const MAX_DEPTH = 10_000;

/** Depth down to which {@link GoObject}s are made: deeper than any struct of a network configuration. */
const STRUCT_DEPTH = 4;

/** An object as a Go struct takes it: its members in the order of decoding, a name as often as it occurs. */
export class GoObject {
  constructor(readonly members: readonly (readonly [key: string, value: unknown])[]) {}

  /** The value that a struct's field has at the end: the last one that is not null. */
  field(name: string): unknown {
    const folded = foldKey(name);
    return this.members.findLast(([key, value]) => value !== null && foldKey(key) === folded)?.[1];
  }
}

/** A key as Go compares it with the name of a field: without regard to case. The long s counts as an s. */
export function foldKey(key: string): string {
  return key.replaceAll("\u017f", "s").toLowerCase();
}

/**
 * Parses a text.
 *
 * @param within Levels of nesting that libcni puts around it before Go reads it.
 * @returns The value, or why Go refuses it.
 */
export function parseAsGo(text: string, within = 0): { readonly value: unknown } | { readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `it is no JSON: ${whyNot(text, error as Error)}` };
  }
  const problem = beyondGo(text, MAX_DEPTH - within);
  return problem === undefined ? { value } : { problem };
}

function whyNot(text: string, error: Error): string {
  return text.startsWith("\ufeff") ? "it begins with a byte order mark" : error.message.replaceAll(/\s+/g, " ");
}

/** The fault for which Go refuses a text that is valid JSON; undefined: it takes the text. */
function beyondGo(text: string, maxDepth: number): string | undefined {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (c === '"') i = stringEnd(text, i) - 1;
    else if (c === "{" || c === "[") {
      if (++depth > maxDepth) return `it is nested deeper than ${maxDepth} levels`;
    } else if (c === "}" || c === "]") depth--;
    else if (c === "-" || (c >= "0" && c <= "9")) {
      const number = /[-+.eE\d]+/y;
      number.lastIndex = i;
      const [digits] = number.exec(text)!;
      if (!Number.isFinite(Number(digits))) return `the number ${digits.slice(0, 50)} is out of range`;
      i += digits.length - 1;
    }
  }
  return undefined;
}

/** The value that a valid text begins with, objects with their members in the order of the text. */
export function goText(text: string): unknown {
  return fromText(text, skipSpace(text, 0), undefined, STRUCT_DEPTH);
}

function fromText(text: string, start: number, end: number | undefined, depth: number): unknown {
  if (depth > 0 && text[start] === "{") {
    const members = membersAt(text, start);
    return new GoObject(members.map((m) => [m.key, fromText(text, m.start, m.end, depth - 1)] as const));
  }
  if (depth > 0 && text[start] === "[") {
    return elementsAt(text, start).map((element) => fromText(text, element.start, element.end, depth - 1));
  }
  return JSON.parse(text.slice(start, end));
}

/** A parsed value after Go has written it down again: each name once, objects with their members in order of names. */
export function goValue(value: unknown, depth = STRUCT_DEPTH): unknown {
  if (depth === 0) return value;
  if (Array.isArray(value)) return value.map((element) => goValue(element, depth - 1));
  if (!isObject(value)) return value;
  return new GoObject(Object.keys(value).sort().map((key) => [key, goValue(value[key], depth - 1)] as const));
}
