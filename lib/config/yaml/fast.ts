/**
 * A parser for the plain part of YAML, which most configuration files use: block maps and lists, flow collections on
 * one line, plain and quoted scalars on one line, comments. At anything else (anchors, tags, block scalars, text over
 * several lines, tabs, characters beyond ASCII, doubtful spellings) the parser gives up, and the full parser reads the
 * document.
 *
 * So this parser never decides the meaning of YAML: its answers equal the full parser's answers, which a property test
 * and a corpus check. Without this parser, reading a folder of 20,000 objects takes 1.4 times the CPU (record 5).
 *
 * @module
 */
import type { ValuePool } from "../schema/value_pool.ts";

/** Thrown inside to give up; a single value is enough, because the value carries nothing. */
const GIVE_UP = Symbol("give up");

/** Deepest nesting; the full parser reads deeper documents. */
const MAX_DEPTH = 48;

/** The answer of {@link parseFast} to a document that is not plain enough. */
export const NOT_PLAIN: unique symbol = Symbol("not plain");

/**
 * Parses one document.
 *
 * @param pool Makes equal strings one.
 * @returns the JSON value, or {@link NOT_PLAIN}
 */
export function parseFast(text: string, pool: ValuePool): unknown {
  if (/[^\x20-\x7e\n]/.test(text)) return NOT_PLAIN;
  try {
    const reader = new FastReader(text, pool);
    return reader.document();
  } catch (thrown) {
    if (thrown === GIVE_UP) return NOT_PLAIN;
    throw thrown;
  }
}

function giveUp(): never {
  throw GIVE_UP;
}

type Tree = Record<string, unknown>;

// A plain scalar starts with none of YAML's indicators. Inside block values the scalar ends before ` #`, and has no `:
// ` and no `:` at its end.
const PLAIN_START = classOf(/[A-Za-z0-9_./$+~=<^;()\\]/);
const NUMBER_START = classOf(/[-+.0-9]/);
const KEY_START = classOf(/[A-Za-z_$]/);
const KEY_REST = classOf(/[A-Za-z0-9_./$-]/);
const FLOW_START = classOf(/[A-Za-z0-9_./$+~=<^;()\\-]/);
const FLOW_REST = classOf(/[A-Za-z0-9_./$+~=<>^;()\\*@%&!|'"?-]/);
const INTEGER = /^[-+]?[0-9]+$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)[eE][-+]?[0-9]+)$/;
// Other bases, infinities, underscores between digits, a sign before the point: rare, and parsers differ.
const SPECIAL = /^[-+]?(?:0[box]|\.|[0-9.]*_)/;
const NOT_A_KEY = /^(?:null|true|false|__proto__)$/i;

/** Marks the characters below 128 in a pattern, so that a character costs one look-up instead of a search. */
function classOf(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0));
}

class FastReader {
  readonly #text: string;
  readonly #pool: ValuePool;
  #at = 0;
  /** Column of the current line's first content, when the cursor stands there. */
  #indent = 0;

  constructor(text: string, pool: ValuePool) {
    this.#text = text;
    this.#pool = pool;
  }

  document(): unknown {
    if (!this.#nextLine()) return giveUp();
    if (this.#indent !== 0) return giveUp();
    const value = this.#block(0, 0);
    return this.#at < this.#text.length ? giveUp() : value;
  }

  /** Moves to the first content of the next non-empty line; false at the end. The cursor stands at a line's start. */
  #nextLine(): boolean {
    const text = this.#text;
    for (;;) {
      let cursor = this.#at;
      while (text.charCodeAt(cursor) === 32) cursor++;
      if (cursor >= text.length) {
        this.#at = text.length;
        return false;
      }
      const code = text.charCodeAt(cursor);
      if (code !== 10 && code !== 35) {
        this.#indent = cursor - this.#at;
        this.#at = cursor;
        return true;
      }
      const end = text.indexOf("\n", cursor);
      this.#at = end < 0 ? text.length : end + 1;
    }
  }

  /** A map or list with entries at this column; the cursor stands at the first entry. */
  #block(column: number, depth: number): unknown {
    if (depth > MAX_DEPTH) return giveUp();
    const text = this.#text;
    if (text.charCodeAt(this.#at) === 45 && isSpaceOrEnd(text, this.#at + 1)) return this.#list(column, depth);
    const code = text.charCodeAt(this.#at);
    // A document may be one flow collection.
    if (depth === 0 && (code === 123 || code === 91)) return this.#inline(0, depth);
    return this.#map(column, depth);
  }

  #map(column: number, depth: number): Tree {
    const out: Tree = {};
    do {
      const key = this.#key(false);
      if (Object.hasOwn(out, key)) return giveUp();
      out[key] = this.#valueAfter(column, true, depth);
    } while (this.#continuesAt(column));
    return out;
  }

  #list(column: number, depth: number): unknown[] {
    const out: unknown[] = [];
    const text = this.#text;
    do {
      if (text.charCodeAt(this.#at) !== 45 || !isSpaceOrEnd(text, this.#at + 1)) return giveUp();
      const dash = this.#at;
      this.#at += 1;
      this.#spaces();
      const compact = column + (this.#at - dash);
      const code = text.charCodeAt(this.#at);
      if (code === 45 && isSpaceOrEnd(text, this.#at + 1)) out.push(this.#block(compact, depth + 1));
      else if (this.#startsKey()) out.push(this.#map(compact, depth + 1));
      else out.push(this.#valueAfter(column, false, depth));
    } while (this.#continuesAt(column));
    return out;
  }

  /**
   * Whether the cursor stands at another entry of this column's collection. After a value, the cursor stands at content
   * or at the end.
   */
  #continuesAt(column: number): boolean {
    if (this.#at >= this.#text.length) return false;
    if (this.#indent > column) return giveUp();
    return this.#indent === column && !this.#startsOtherCollection(column);
  }

  /** A list inside a map may stand at the map's own column; then the next key ends the list. */
  #startsOtherCollection(column: number): boolean {
    return this.#listColumns.at(-1) === column && this.#text.charCodeAt(this.#at) !== 45;
  }

  /** Columns of lists that stand at the column of the map around them. */
  readonly #listColumns: number[] = [];

  /** The value after `key:` or `-`: on the same line, or a block on the following lines. */
  #valueAfter(column: number, ofMap: boolean, depth: number): unknown {
    this.#spaces();
    const code = this.#text.charCodeAt(this.#at);
    if (this.#at < this.#text.length && code !== 10 && !(code === 35 && this.#text[this.#at - 1] === " ")) {
      return this.#inline(column, depth);
    }
    this.#endLine();
    if (!this.#nextLine()) return null;
    if (this.#indent > column) return this.#block(this.#indent, depth + 1);
    const dash = this.#text.charCodeAt(this.#at) === 45 && isSpaceOrEnd(this.#text, this.#at + 1);
    if (!ofMap || this.#indent !== column || !dash) return null;
    this.#listColumns.push(column);
    const value = this.#list(column, depth + 1);
    this.#listColumns.pop();
    return value;
  }

  /** A value that ends with its line. A deeper next line would continue the value, and is not allowed. */
  #inline(column: number, depth: number): unknown {
    const code = this.#text.charCodeAt(this.#at);
    let value: unknown;
    if (code === 123 || code === 91) {
      value = this.#flow(depth);
      this.#endOfValue();
    } else if (code === 34 || code === 39) {
      value = this.#quoted();
      this.#endOfValue();
    } else value = this.#plain();
    if (this.#nextLine() && this.#indent > column) return giveUp();
    return value;
  }

  #endOfValue(): void {
    const before = this.#at;
    this.#spaces();
    const code = this.#text.charCodeAt(this.#at);
    if (this.#at < this.#text.length && code !== 10 && !(code === 35 && this.#at > before)) giveUp();
    this.#endLine();
  }

  #endLine(): void {
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end < 0 ? this.#text.length : end + 1;
  }

  #spaces(): void {
    while (this.#text.charCodeAt(this.#at) === 32) this.#at++;
  }

  #startsKey(): boolean {
    const code = this.#text.charCodeAt(this.#at);
    if (code === 34 || code === 39) {
      return /^(?:"[^"\\\n]*"|'[^'\n]*') *:/.test(this.#text.slice(this.#at, this.#at + 300));
    }
    const end = this.#keyEnd();
    return end > this.#at && this.#text.charCodeAt(end) === 58 && isSpaceOrEnd(this.#text, end + 1);
  }

  /** The end of the plain key at the cursor; the cursor itself: no key. */
  #keyEnd(): number {
    const text = this.#text;
    let end = this.#at;
    if (KEY_START[text.charCodeAt(end)] !== 1) return end;
    do end++; while (KEY_REST[text.charCodeAt(end)] === 1);
    return end;
  }

  /**
   * A key and its colon; the cursor ends after the colon. Inside flow collections spaces may stand before the colon.
   */
  #key(flow: boolean): string {
    const text = this.#text;
    const code = text.charCodeAt(this.#at);
    if (code === 34 || code === 39) {
      const key = this.#quoted();
      if (text.charCodeAt(this.#at) !== 58 || !isSpaceOrEnd(text, this.#at + 1) || key === "__proto__") giveUp();
      this.#at += 1;
      return key;
    }
    const start = this.#at;
    const end = this.#keyEnd();
    this.#at = end;
    if (flow) this.#spaces();
    const colon = this.#at;
    const ends = flow ? text.charCodeAt(colon + 1) === 32 : isSpaceOrEnd(text, colon + 1);
    if (end === start || text.charCodeAt(colon) !== 58 || !ends) return giveUp();
    this.#at = colon + 1;
    return this.#pool.key(text, start, end, isKey) ?? giveUp();
  }

  #quoted(): string {
    const text = this.#text;
    const quote = text[this.#at] ?? "";
    let end = this.#at + 1;
    for (;; end++) {
      const character = text[end];
      if (character === undefined || character === "\n") return giveUp();
      if (character === quote) {
        if (quote === '"' || text[end + 1] !== "'") break;
        end += 1;
      } else if (character === "\\" && quote === '"') end += 1;
    }
    const inner = this.#pool.part(text, this.#at + 1, end);
    this.#at = end + 1;
    if (quote === "'") return inner.includes("''") ? inner.replaceAll("''", "'") : inner;
    if (!inner.includes("\\")) return inner;
    return /^(?:[^\\]|\\["\\/bfnrt])*$/.test(inner) ? JSON.parse(`"${inner}"`) : giveUp();
  }

  #plain(): unknown {
    const text = this.#text;
    const start = this.#at;
    if (PLAIN_START[text.charCodeAt(start)] !== 1 && !this.#startsNumber()) return giveUp();
    let end = start;
    // The first character is not white space, so the value has at least this character.
    for (let at = start; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === 10) break;
      if (code === 32) {
        if (text.charCodeAt(at + 1) === 35) break;
      } else {
        if (code === 58 && isSpaceOrEnd(text, at + 1)) return giveUp();
        end = at + 1;
      }
    }
    this.#at = end;
    this.#endLine();
    return this.#resolve(start, end);
  }

  #startsNumber(): boolean {
    const text = this.#text;
    const next = text.charCodeAt(this.#at + 1);
    return text.charCodeAt(this.#at) === 45 && (next === 46 || (next >= 48 && next <= 57));
  }

  #flow(depth: number): unknown {
    if (depth > MAX_DEPTH) return giveUp();
    return this.#text[this.#at] === "{" ? this.#flowMap(depth) : this.#flowList(depth);
  }

  #flowMap(depth: number): Tree {
    const out: Tree = {};
    this.#at += 1;
    this.#spaces();
    if (this.#text[this.#at] === "}") {
      this.#at += 1;
      return out;
    }
    do {
      this.#spaces();
      const key = this.#key(true);
      if (Object.hasOwn(out, key)) return giveUp();
      out[key] = this.#flowValue(depth);
    } while (this.#flowContinues("}"));
    return out;
  }

  #flowList(depth: number): unknown[] {
    const out: unknown[] = [];
    this.#at += 1;
    this.#spaces();
    if (this.#text[this.#at] === "]") {
      this.#at += 1;
      return out;
    }
    do out.push(this.#flowValue(depth)); while (this.#flowContinues("]"));
    return out;
  }

  #flowContinues(close: string): boolean {
    this.#spaces();
    const character = this.#text[this.#at];
    if (character !== "," && character !== close) return giveUp();
    this.#at += 1;
    return character === ",";
  }

  #flowValue(depth: number): unknown {
    this.#spaces();
    const character = this.#text[this.#at];
    if (character === "{" || character === "[") return this.#flow(depth + 1);
    if (character === '"' || character === "'") return this.#quoted();
    if (character === "-" && !this.#startsNumber()) return giveUp();
    const start = this.#at;
    if (FLOW_START[this.#text.charCodeAt(start)] !== 1) return giveUp();
    let end = start + 1;
    // Spaces belong to the value only before further characters of the value.
    for (let at = end;; at++) {
      const code = this.#text.charCodeAt(at);
      if (FLOW_REST[code] === 1) end = at + 1;
      else if (code !== 32) break;
    }
    this.#at = end;
    return this.#resolve(start, end);
  }

  /** The value of a plain scalar by YAML's core schema. */
  #resolve(start: number, end: number): unknown {
    const scalar = this.#pool.part(this.#text, start, end);
    const first = scalar.charCodeAt(0);
    if (NUMBER_START[first] === 1) return numberOr(scalar);
    // Only a text with such a first character can be true, false, null or ~.
    return WORD_START[first] === 1 ? wordOr(scalar) : scalar;
  }
}

const WORD_START = classOf(/[tTfFnN~]/);

function isKey(text: string): boolean {
  return !NOT_A_KEY.test(text);
}

function isSpaceOrEnd(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return at >= text.length || code === 32 || code === 10;
}

function numberOr(scalar: string): unknown {
  if (SPECIAL.test(scalar)) return giveUp();
  if (!INTEGER.test(scalar) && !FLOAT.test(scalar)) return scalar;
  const number = Number(scalar);
  return Object.is(number, -0) ? giveUp() : number;
}

function wordOr(scalar: string): unknown {
  switch (scalar) {
    case "true":
    case "True":
    case "TRUE":
      return true;
    case "false":
    case "False":
    case "FALSE":
      return false;
    case "null":
    case "Null":
    case "NULL":
    case "~":
      return null;
    default:
      return scalar;
  }
}
