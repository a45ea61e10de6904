/**
 * From the text of a template to its texts and actions, and from an action to words.
 *
 * @module
 */
import { TextTemplateError } from "./syntax.ts";

/** A stretch of a template. */
export type TemplatePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "action"; readonly words: readonly string[]; readonly line: number };

/** A comment alone, or texts in quotes and anything else up to the end of the action. */
const ACTION =
  /^\{\{(-\s)?(\/\*[^]*?\*\/|(?:"(?:[^"\\\n]|\\.)*"|`[^`]*`|(?!\}\}|\s-\}\})[^"`])*?)\s*(?:(?<=\s)(-))?\}\}/;

/**
 * Takes a template apart. `{{-` and `-}}` take the white space before and after away.
 *
 * @throws {TextTemplateError} for an action without end, or with a word that is none
 */
export function templateParts(text: string, file: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let rest = text;
  let line = 1;
  let trims = false;
  while (rest !== "") {
    const at = rest.indexOf("{{");
    const before = at < 0 ? rest : rest.slice(0, at);
    const match = at < 0 ? null : ACTION.exec(rest.slice(at));
    line += before.split("\n").length - 1;
    if (at >= 0 && match === null) throw new TextTemplateError(`${file}:${line}: an action without end, expected }}`);
    const trimmed = trims ? before.trimStart() : before;
    const shown = match?.[1] === undefined ? trimmed : trimmed.trimEnd();
    if (shown !== "") parts.push({ kind: "text", text: shown });
    if (match === null) break;
    const [whole, , inside = ""] = match;
    const words = wordsOf(inside.trim().replace(/^\/\*[^]*\*\/$/, ""), `${file}:${line}`);
    if (words.length > 0) parts.push({ kind: "action", words, line });
    trims = match[3] !== undefined;
    line += whole.split("\n").length - 1;
    rest = rest.slice(at + whole.length);
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
    // A field of a result in parentheses stands right behind them: `(index .a 0).b`.
    if (word.trim() !== "") words.push(word.startsWith(".") && action[start - 1] === ")" ? `)${word}` : word);
  }
  return words;
}
