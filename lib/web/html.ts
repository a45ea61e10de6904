/**
 * HTML as a tagged template: values in it are escaped, unless they are HTML already.
 *
 *     markup`<a href="${url}">${name}</a>`
 *
 * Attributes stand in double quotes; nothing is put into a style or a script, which pages do not have.
 *
 * @module
 */
import { escapeHtml } from "../debug/html.ts";

/** HTML made by {@linkcode markup}. */
export class Html {
  constructor(
    /** The text. The code that creates the object is responsible for escaping. */
    readonly text: string,
  ) {}
}

/** A value in a template; undefined and false are empty, lists are joined. */
export type HtmlValue = Html | string | number | undefined | false | readonly HtmlValue[];

/** Makes HTML; see the module. */
export function markup(texts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = texts[0]!;
  for (const [i, value] of values.entries()) text += htmlText(value) + texts[i + 1]!;
  return new Html(text);
}

/** A value as HTML text. */
function htmlText(value: HtmlValue): string {
  if (value === undefined || value === false) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "string") return escapeHtml(value);
  if (typeof value === "number") return String(value);
  return value.map(htmlText).join("");
}
