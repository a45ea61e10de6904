/**
 * Splits a template into texts and actions, and an action into words.
 *
 * @module
 */
import { TextTemplateError } from "./syntax.ts";

/** A stretch of a template. */
export type TemplatePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "action"; readonly words: readonly string[]; readonly line: number };

/** An action of a template: a comment alone, or texts in quotes and anything else. */
interface Action {
  readonly inside: string;
  readonly trimsBefore: boolean;
  readonly trimsAfter: boolean;
  /** Where the text behind the action begins. */
  readonly end: number;
}

/** A text in quotes, or a single character. */
const INSIDE = /"(?:[^"\\\n]|\\.)*"|`[^`]*`|[^"`]/y;

/** The action at a position. Undefined for an action without an end. */
function actionAt(text: string, at: number): Action | undefined {
  const trimsBefore = text[at + 2] === "-" && /\s/.test(text[at + 3] ?? "");
  const from = at + (trimsBefore ? 4 : 2);
  const isEnd = (place: number) => text.startsWith("}}", place);
  const isTrimmingEnd = (place: number) => text.startsWith("-}}", place) && /\s/.test(text[place - 1]!);
  let place = text.startsWith("/*", from) ? commentEnd(text, from) : from;
  while (!isEnd(place) && !isTrimmingEnd(place)) {
    INSIDE.lastIndex = place;
    if (!INSIDE.test(text)) return undefined;
    place = INSIDE.lastIndex;
  }
  const trimsAfter = !isEnd(place);
  return { inside: text.slice(from, place), trimsBefore, trimsAfter, end: place + (trimsAfter ? 3 : 2) };
}

/** Where to look for the end of an action, after a leading comment: signs inside a comment mean nothing. */
function commentEnd(text: string, from: number): number {
  const end = text.indexOf("*/", from + 2);
  return end < 0 ? from : end + 2;
}

/**
 * Splits a template. `{{-` and `-}}` remove the white space before and after.
 *
 * @throws {TextTemplateError} for an action without an end, or with an invalid word.
 */
export function templateParts(text: string, file: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let rest = text;
  let line = 1;
  let trims = false;
  while (rest !== "") {
    const at = rest.indexOf("{{");
    const before = at < 0 ? rest : rest.slice(0, at);
    const action = at < 0 ? undefined : actionAt(rest, at);
    line += before.split("\n").length - 1;
    if (at >= 0 && action === undefined) {
      throw new TextTemplateError(`${file}:${line}: an action without end, expected }}`);
    }
    const trimmed = trims ? before.trimStart() : before;
    const shown = action?.trimsBefore === true ? trimmed.trimEnd() : trimmed;
    if (shown !== "") parts.push({ kind: "text", text: shown });
    if (action === undefined) break;
    const { inside, trimsAfter, end } = action;
    const words = wordsOf(inside.trim().replace(/^\/\*[^]*\*\/$/, ""), `${file}:${line}`);
    if (words.length > 0) parts.push({ kind: "action", words, line });
    trims = trimsAfter;
    line += rest.slice(at, end).split("\n").length - 1;
    rest = rest.slice(end);
  }
  return parts;
}

const WORD =
  /\s+|"(?:[^"\\]|\\.)*"|`[^`]*`|'(?:[^'\\]|\\.)'|:=|[|(),=]|-?\d+(?:\.\d+)?|\$?[A-Za-z_]\w*(?:\.\w+)*|\$(?:\.\w+)*|(?:\.\w+)+|\./y;

function wordsOf(action: string, place: string): string[] {
  const words: string[] = [];
  WORD.lastIndex = 0;
  while (WORD.lastIndex < action.length) {
    const start = WORD.lastIndex;
    const word = WORD.exec(action)?.[0];
    if (word === undefined) {
      throw new TextTemplateError(`${place}: got ${JSON.stringify(action.slice(start, start + 20))}, expected a value`);
    }
    // A field of a result in parentheses stands directly behind the parentheses: `(index .a 0).b`.
    if (word.trim() !== "") words.push(word.startsWith(".") && action[start - 1] === ")" ? `)${word}` : word);
  }
  return words;
}
