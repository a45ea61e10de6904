/**
 * Whether proxies can compile a text as an expression of CEL (https://github.com/google/cel-spec). Envoy refuses the
 * whole listener because of a wrong expression, so such an expression must not reach Envoy. Types are not checked: an
 * expression without a value counts as false.
 *
 * @module
 */
import { looksLikeRe2 } from "./regex_syntax.ts";

/** The largest integers of CEL. */
const LARGEST = 2n ** 63n - 1n;
const LARGEST_UNSIGNED = 2n ** 64n - 1n;

/** Whether a number fits into 64 bits. @param isNegative A minus stands before the number. */
function isNumberOfCel(text: string, isNegative: boolean): boolean {
  const isHex = /^0x/i.test(text);
  if (!isHex && /[.eE]/.test(text)) return true;
  const isUnsigned = /u$/i.test(text);
  const value = BigInt(isUnsigned ? text.slice(0, -1) : text);
  return value <= (isUnsigned ? LARGEST_UNSIGNED : isNegative ? LARGEST + 1n : LARGEST);
}

/** Prefix and quotes of a text. */
const OPENING = /^(?:[bB]?[rR]?|[rR][bB])("""|'''|"|')/;
const ESCAPE = /\\(?:[abfnrtv\\'"`?]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/g;

/** The parts of a text; undefined: not a text. */
function partsOf(
  text: string,
): { readonly isRaw: boolean; readonly quotes: string; readonly content: string } | undefined {
  const [opening = "", quotes = ""] = OPENING.exec(text) ?? [];
  const isWhole = quotes !== "" && text.length >= opening.length + quotes.length && text.endsWith(quotes);
  if (!isWhole) return undefined;
  return { isRaw: /r/i.test(opening), quotes, content: text.slice(opening.length, text.length - quotes.length) };
}

/** Whether every escape in a text is known. */
function isTextOfCel(text: string): boolean {
  const { isRaw = false, content = "" } = partsOf(text) ?? {};
  return isRaw || !content.replaceAll(ESCAPE, "").includes("\\");
}

/** Whether the text of a search is an expression of RE2. Only the proxy knows the value of other arguments. */
function isPatternOfCel(argument: string): boolean {
  const found = partsOf(argument.trim());
  if (found === undefined) return true;
  const { isRaw, quotes, content } = found;
  if (content.includes(quotes)) return true; // Several texts, with something in between.
  return looksLikeRe2(isRaw ? content : content.replaceAll(/\\([\\'"`?])/g, "$1"));
}

/** Deepest nesting; the proxy's own parser has a limit as well. */
const MAX_DEPTH = 100;

/**
 * Functions of Envoy 1.40, by the numbers of their arguments; the value before the dot counts as an argument. Envoy
 * lacks functions that iterate over lists, and functions that make texts.
 */
const FUNCTIONS: ReadonlyMap<string, readonly number[]> = new Map([
  ...of([1], "size int uint double bytes bool type duration timestamp dyn"),
  ...of([2], "contains startsWith endsWith matches"),
  ...of([1, 2], "getFullYear getMonth getDate getDayOfMonth getDayOfYear getDayOfWeek getHours getMinutes getSeconds"),
  ...of([1, 2], "getMilliseconds"),
]);

function of(counts: readonly number[], names: string): (readonly [string, readonly number[]])[] {
  return names.split(" ").map((name) => [name, counts]);
}

const RESERVED: ReadonlySet<string> = new Set(
  "as break const continue else for function if import let loop package namespace return var void while".split(" "),
);

const SPACE = /\s*(?:\/\/[^\n]*(?:\n\s*|$))*/y;
const NUMBER = /0[xX][0-9a-fA-F]+[uU]?|(?:\d+\.\d+|\.\d+|\d+)(?:[eE][+-]?\d+)?[uU]?/y;
const TEXT = /[bB]?[rR]?(?:"""[^]*?"""|'''[^]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/y;
const WORD = /[A-Za-z_]\w*/y;
const BINARY = /\|\||&&|[<>=!]=|[<>]|in\b|[-+*/%]/y;

/** The fault of an expression; undefined: none. */
export function celProblem(expression: string): string | undefined {
  return new CelParser(expression).problem();
}

class CelMistake extends Error {}

/** Recursive descent. Precedence of binary operators does not matter to whether a text is an expression. */
class CelParser {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  /** Whether the last operand is a field of another operand (`a.b`). */
  #isField = false;

  constructor(text: string) {
    this.#text = text;
  }

  problem(): string | undefined {
    try {
      this.#expression();
      if (this.#at < this.#text.length) this.#fail("the end or an operator");
      return undefined;
    } catch (error) {
      if (error instanceof CelMistake) return error.message;
      throw error;
    }
  }

  #expression(): void {
    if (++this.#depth > MAX_DEPTH) this.#fail("less nesting");
    this.#operands();
    if (this.#take("?")) {
      this.#operands();
      this.#expect(":");
      this.#expression();
    }
    this.#depth--;
  }

  #operands(): void {
    this.#unary();
    while (this.#match(BINARY) !== undefined) this.#unary();
  }

  #unary(): void {
    while (this.#take("!") || this.#take("-")) this.#space();
    this.#primary();
    this.#isField = false;
    for (;;) {
      if (this.#take(".")) this.#isField = this.#member(true);
      else if (this.#take("[")) {
        this.#expression();
        this.#expect("]");
        this.#isField = false;
      } else return;
    }
  }

  #primary(): void {
    const from = this.#at;
    const text = this.#match(TEXT);
    if (text !== undefined) return isTextOfCel(text) ? undefined : this.#fail("a text with known escapes", from);
    const number = this.#match(NUMBER);
    if (number !== undefined) {
      const isNegative = this.#text[from - 1] === "-";
      return isNumberOfCel(number, isNegative) ? undefined : this.#fail("a number of 64 bits", from);
    }
    if (this.#take("(")) {
      this.#expression();
      return this.#expect(")");
    }
    if (this.#take("[")) return this.#list("]", () => this.#expression());
    if (this.#take("{")) return this.#list("}", () => this.#entry());
    this.#take(".");
    void this.#member(false);
  }

  /**
   * Reads a name or a call. Returns whether it is a name.
   *
   * @param on A member of another value.
   */
  #member(on: boolean): boolean {
    const from = this.#at;
    const name = this.#match(WORD);
    if (name === undefined || !on && RESERVED.has(name)) return this.#fail("a name, a value or a bracket", from);
    if (!this.#take("(")) return true;
    if (name === "has" && !on) this.#has(from);
    else this.#call(name, on ? 1 : 0, from);
    return false;
  }

  #has(from: number): void {
    this.#expression();
    if (!this.#isField) this.#fail("a field of something, as in has(a.b)", from);
    this.#expect(")");
  }

  #call(name: string, before: number, from: number): void {
    let count = before;
    this.#list(")", () => {
      const begin = this.#at;
      this.#expression();
      count++;
      if (name !== "matches" || count !== 2 || isPatternOfCel(this.#text.slice(begin, this.#at))) return;
      this.#fail("an RE2 regular expression", begin);
    });
    const counts = FUNCTIONS.get(name);
    if (counts === undefined) this.#fail(`a function that proxies have, not ${name}`, from);
    else if (!counts.includes(count)) this.#fail(`another number of arguments of ${name}`, from);
  }

  #entry(): void {
    this.#expression();
    this.#expect(":");
    this.#expression();
  }

  #list(end: string, item: () => void): void {
    while (!this.#take(end)) {
      item();
      if (!this.#take(",")) return this.#expect(end);
    }
  }

  #expect(text: string): void {
    if (!this.#take(text)) this.#fail(text);
  }

  #take(text: string): boolean {
    this.#space();
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    this.#space();
    return true;
  }

  #match(form: RegExp): string | undefined {
    this.#space();
    form.lastIndex = this.#at;
    const found = form.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    if (found !== undefined) this.#space();
    return found;
  }

  #space(): void {
    SPACE.lastIndex = this.#at;
    this.#at += SPACE.exec(this.#text)?.[0].length ?? 0;
  }

  #fail(expected: string, at = this.#at): never {
    throw new CelMistake(`at ${at + 1}: expected ${expected}`);
  }
}
