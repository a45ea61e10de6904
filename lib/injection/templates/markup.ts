/**
 * Printing into YAML. A text is printed as a mark, and the mark becomes the text again after the YAML was parsed, so a
 * user's text is never read as YAML. Functions that print data as YAML or JSON put marks in place of the data's texts.
 *
 * @module
 */
import { dump } from "js-yaml";
import { printed } from "../../kernel/template/functions.ts";
import { plainTree } from "./go_fields.ts";

/** YAML or JSON that a template function made from data. */
export class Markup {
  readonly #text: () => string;

  /**
   * @param marked The text with marks in place of the data's texts.
   * @param text The text without marks, for functions of texts.
   */
  constructor(readonly marked: string, text: () => string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text();
  }

  /** Makes the same change in both texts. */
  map(change: (text: string) => string): Markup {
    return new Markup(change(this.marked), () => change(this.#text()));
  }
}

/**
 * Letters, digits and a few signs without a meaning in YAML. Such a text may be read as a text, a number or a truth.
 */
const PLAIN = /^[A-Za-z0-9_/$][A-Za-z0-9_./$()%+-]*$/;
/** Stands before and after a mark's number. The character is for private use in Unicode. */
const MARK = "\uE000";
const MARKS = /\uE000(\d+)\uE000/g;

/** A text behind a mark. */
interface MarkedText {
  readonly text: string;
  /** The form inside a longer scalar of YAML, such as JSON in a variable. */
  readonly inside: string;
}

/** The marks of one template. */
export class Marks {
  readonly #texts: MarkedText[] = [];

  /** The text to print for a value. */
  readonly print = (value: unknown): string => {
    if (value instanceof Markup) return value.marked;
    const text = printed(value);
    return text === "" || PLAIN.test(text) ? text : this.#mark(text, text);
  };

  json(value: unknown): Markup {
    const tree = plainTree(value) ?? null;
    const marked = this.#marked(tree, (text) => JSON.stringify(text).slice(1, -1));
    return new Markup(JSON.stringify(marked), () => JSON.stringify(tree));
  }

  /** YAML of a value, without the last line's end. */
  yaml(value: unknown): Markup {
    const tree = plainTree(value) ?? null;
    return new Markup(yamlOf(this.#marked(tree, JSON.stringify)), () => yamlOf(tree));
  }

  /** A tree with texts in place of marks, in keys too. */
  restored(tree: unknown): unknown {
    if (typeof tree === "string") return this.#restoredText(tree);
    if (Array.isArray(tree)) return tree.map((one) => this.restored(one));
    if (typeof tree !== "object" || tree === null) return tree;
    return Object.fromEntries(
      Object.entries(tree).map(([key, one]) => [this.#restoredText(key), this.restored(one)]),
    );
  }

  #mark(text: string, inside: string): string {
    return `${MARK}${this.#texts.push({ text, inside }) - 1}${MARK}`;
  }

  #marked(tree: unknown, inside: (text: string) => string): unknown {
    const text = (one: string) => one === "" || PLAIN.test(one) ? one : this.#mark(one, inside(one));
    if (typeof tree === "string") return text(tree);
    if (Array.isArray(tree)) return tree.map((one) => this.#marked(one, inside));
    if (typeof tree !== "object" || tree === null) return tree;
    return Object.fromEntries(Object.entries(tree).map(([key, one]) => [text(key), this.#marked(one, inside)]));
  }

  #restoredText(text: string): string {
    return text.replace(MARKS, (mark, number: string) => {
      const behind = this.#texts[Number(number)];
      if (behind === undefined) return mark;
      return mark === text ? behind.text : behind.inside;
    });
  }
}

function yamlOf(tree: unknown): string {
  return dump(tree, { lineWidth: -1, noRefs: true }).replace(/\n$/, "");
}
