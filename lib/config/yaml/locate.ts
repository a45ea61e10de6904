/**
 * The places of fields in a document. Needed only for findings: the text is then parsed once more, and the parser
 * reports where each value begins. A document without findings costs nothing.
 *
 * @module
 */
// @ts-types="npm:@types/js-yaml@4.0.9"
import { load, type State } from "js-yaml";
import { ownKey } from "../spelling/spelling.ts";
import { jsonPlaces } from "./json_places.ts";
import { NOT_JSON, parseJsonText } from "./json_text.ts";
import type { YamlPlace } from "./yaml_place.ts";
import { MAX_DOCUMENT_LENGTH, SCHEMA } from "./parse.ts";

export type { YamlPlace };

/** A value under reading. */
interface Frame {
  readonly line: number;
  /** From 1; 0: the value begins on another line. */
  readonly column: number;
  readonly children: Frame[];
  result: unknown;
  inside: ReadonlyMap<string, YamlPlace>;
}

const NOTHING: ReadonlyMap<string, YamlPlace> = new Map();

/** The places of a document's values; undefined: too long, or not parsed. Never throws. */
export function places(text: string): YamlPlace | undefined {
  if (text.length > MAX_DOCUMENT_LENGTH) return undefined;
  return parseJsonText(text) === NOT_JSON ? yamlPlaces(text) : jsonPlaces(text);
}

/** The places by the full parser; exported for the test that compares both. */
export function yamlPlaces(text: string): YamlPlace | undefined {
  const root: Frame = { line: 0, column: 1, children: [], result: undefined, inside: NOTHING };
  const stack = [root];
  const listener = (event: "open" | "close", state: State) => {
    if (event === "open") {
      stack.push({ line: state.line, column: columnOf(state), children: [], result: undefined, inside: NOTHING });
      return;
    }
    const frame = stack.pop() as Frame;
    frame.result = state.result;
    frame.inside = insideOf(frame);
    // The values inside are known by now; the rest of the frames may go.
    if (frame.children.length > 0) frame.children.length = 0;
    stack.at(-1)?.children.push(frame);
  };
  try {
    load(text, { schema: SCHEMA, listener });
  } catch {
    return undefined; // The document was parsed before, and that error is reported. YAML may also refuse a JSON file.
  }
  const inside = root.children.at(-1)?.inside;
  return inside === undefined ? undefined : { line: 0, column: 1, inside };
}

/** The parser reports the start of a value at the end of the key's colon, before it skips blanks. */
function columnOf({ input, position, lineStart }: State): number {
  let at = position;
  while (input[at] === " " || input[at] === "\t") at++;
  const found = input[at];
  return found === undefined || "\n\r#\0".includes(found) ? 0 : at - lineStart + 1;
}

/** The parser reports values in order, including keys, and places where it searched in vain. */
function insideOf({ children, result }: Frame): ReadonlyMap<string, YamlPlace> {
  if (typeof result !== "object" || result === null) return NOTHING;
  const [only] = children;
  // The parser searched for a key, and found the value itself.
  if (only !== undefined && children.length === 1 && only.result === result) return only.inside;
  const inside = new Map<string, YamlPlace>();
  if (Array.isArray(result)) {
    let next = 0;
    result.forEach((item, index) => {
      const child = children[next];
      // The parser does not report an empty item (`-` alone).
      if (child === undefined || !Object.is(child.result, item)) return;
      inside.set(String(index), child);
      next += 1;
    });
    return inside;
  }
  const fields = result as Readonly<Record<string, unknown>>;
  for (let at = 0; at + 1 < children.length; at++) {
    const key = children[at] as Frame;
    const name = String(key.result);
    const value = children[at + 1] as Frame;
    // Merge keys are different: their fields are written elsewhere.
    if (typeof key.result === "object" || !Object.hasOwn(fields, name) || !Object.is(fields[name], value.result)) {
      continue;
    }
    const column = value.line === key.line && value.column > 0 ? value.column : key.column;
    inside.set(name, { line: key.line, column, inside: value.inside });
    at += 1;
  }
  return inside;
}

/** Parts of a field's path: `spec.http[0].headers["x-y"]`. */
const PARTS = /\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([^.[\]]+)/g;

/**
 * The place of a field by its path in findings; of a field that is not written: the place of the nearest value around.
 */
export function placeOf(root: YamlPlace, path: string): YamlPlace {
  let place = root;
  for (const [, index, quoted, plain] of path.matchAll(PARTS)) {
    const next = child(place, index ?? (quoted === undefined ? plain : unquoted(quoted)) ?? "");
    if (next === undefined) break;
    place = next;
  }
  return place;
}

/** 0-based line of a field; see {@linkcode placeOf}. */
export function lineOf(root: YamlPlace, path: string): number {
  return placeOf(root, path).line;
}

/** More than any message has. In a larger map, a field in the other spelling is not searched. */
const MOST_FIELDS = 500;

/** Fields may be written in the other spelling: `connect_timeout`. */
function child({ inside }: YamlPlace, name: string): YamlPlace | undefined {
  const exact = inside.get(name);
  if (exact !== undefined || inside.size > MOST_FIELDS) return exact;
  const spelled = name.includes("/") ? [...inside.keys()].find((one) => ownKey(one) === name) : undefined;
  if (spelled !== undefined) return inside.get(spelled);
  const camel = (key: string) => key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  const key = [...inside.keys()].find((one) => one.includes("_") && camel(one) === name);
  return key === undefined ? undefined : inside.get(key);
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text; // Cut off by the bound on a finding's length: no field has this name.
  }
}
