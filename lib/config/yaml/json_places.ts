/**
 * The places of fields in a JSON text. The parts of a value are searched on demand: in a list of thousands of objects
 * only for objects with findings.
 *
 * @module
 */
import { afterBlanks, afterString } from "./json_text.ts";
import type { YamlPlace } from "./yaml_place.ts";

/** The places of a valid JSON text. */
export function jsonPlaces(text: string): YamlPlace {
  const breaks: number[] = [];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) breaks.push(at);
  const root = new JsonPlace({ text, breaks }, afterBlanks(text, 0), undefined);
  return { line: 0, column: 1, inside: root.inside };
}

/** A text, and the ends of its lines. */
interface LinedText {
  readonly text: string;
  readonly breaks: readonly number[];
}

class JsonPlace implements YamlPlace {
  readonly line: number;
  readonly column: number;
  readonly #lines: LinedText;
  readonly #start: number;
  #inside: ReadonlyMap<string, YamlPlace> | undefined;

  /** @param key Place of the value's key; undefined: no key. */
  constructor(lines: LinedText, start: number, key: number | undefined) {
    const own = positionIn(lines, start);
    const from = key === undefined ? own : positionIn(lines, key);
    this.line = from.line;
    this.column = from.line === own.line ? own.column : from.column;
    this.#lines = lines;
    this.#start = start;
  }

  get inside(): ReadonlyMap<string, YamlPlace> {
    return this.#inside ??= this.#parts();
  }

  #parts(): ReadonlyMap<string, YamlPlace> {
    const { text } = this.#lines;
    const parts = new Map<string, YamlPlace>();
    const opened = text[this.#start];
    if (opened !== "{" && opened !== "[") return parts;
    let at = afterBlanks(text, this.#start + 1);
    while (at < text.length && text[at] !== "}" && text[at] !== "]") {
      const key = opened === "{" ? at : undefined;
      let name = String(parts.size);
      if (key !== undefined) {
        const end = afterString(text, key);
        name = JSON.parse(text.slice(key, end)) as string;
        at = afterBlanks(text, afterBlanks(text, end) + 1);
      }
      parts.set(name, new JsonPlace(this.#lines, at, key));
      at = afterBlanks(text, afterValue(text, at));
      if (text[at] === ",") at = afterBlanks(text, at + 1);
    }
    return parts;
  }
}

/** The place behind a value. */
function afterValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const found = text[at]!;
    if (found === '"') at = afterString(text, at);
    else if (found === "{" || found === "[") {
      depth++;
      at++;
    } else if (found === "}" || found === "]") {
      if (depth === 0) return at;
      depth--;
      at++;
    } else if (found === "," && depth === 0) return at;
    else {
      at++;
      continue;
    }
    if (depth === 0) return at;
  }
  return at;
}

function positionIn({ breaks }: LinedText, at: number): { readonly line: number; readonly column: number } {
  let [low, high] = [0, breaks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (breaks[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return { line: low, column: at - (low === 0 ? -1 : breaks[low - 1]!) };
}
