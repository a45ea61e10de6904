/**
 * Printing into YAML. A text is printed as a mark, and the mark becomes the text again when the YAML has been parsed: so
 * no text of a user is ever read as YAML. What a function made as YAML or JSON is printed as it is.
 *
 * @module
 */
import { printed } from "../../kernel/template/functions.ts";

/** YAML or JSON that a function of templates made of data. */
export class Markup {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

/** Letters, digits and a few signs that mean nothing in YAML: read as a text, a number or a truth as written. */
const PLAIN = /^[A-Za-z0-9_/$][A-Za-z0-9_./$()%+-]*$/;
/** Brackets a mark's number. It is for private use in Unicode; markup that holds it is printed without. */
const MARK = "\uE000";
const MARKS = /\uE000(\d+)\uE000/g;

/** The marks of one template. */
export class Marks {
  readonly #texts: string[] = [];

  /** The text to print for a value. */
  readonly print = (value: unknown): string => {
    if (value instanceof Markup) return value.text.replaceAll(MARK, "\uFFFD");
    const text = printed(value);
    if (text === "" || PLAIN.test(text)) return text;
    return `${MARK}${this.#texts.push(text) - 1}${MARK}`;
  };

  /** A tree with the texts in place of their marks, in keys too. */
  restored(tree: unknown): unknown {
    if (typeof tree === "string") return this.#text(tree);
    if (Array.isArray(tree)) return tree.map((one) => this.restored(one));
    if (typeof tree !== "object" || tree === null) return tree;
    return Object.fromEntries(Object.entries(tree).map(([key, one]) => [this.#text(key), this.restored(one)]));
  }

  #text(text: string): string {
    return text.replace(MARKS, (mark, number: string) => this.#texts[Number(number)] ?? mark);
  }
}
