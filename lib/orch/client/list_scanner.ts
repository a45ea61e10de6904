/**
 * The items of a list, each as soon as its last byte has arrived, so that a list of any length needs the memory of one
 * item.
 *
 *     bytes ──> outside of "items": kept, parsed at the end
 *           └─> one item: parsed, handed over, forgotten
 *
 * The scanner follows braces and quotes; a parser reads the text of each item.
 *
 * @module
 */
const QUOTE = 34, BACKSLASH = 92, COMMA = 44;
const OPEN_BRACE = 123, CLOSE_BRACE = 125, OPEN_BRACKET = 91, CLOSE_BRACKET = 93;

const ITEMS = new TextEncoder().encode("items");

/** Depth of the list itself, and depth between its items. */
const LIST = 1, BETWEEN_ITEMS = 2;

export class ListScanner {
  readonly #take: (item: unknown) => void;
  readonly #decoder = new TextDecoder();
  /** Pieces of the text without items, and pieces of the present item, from earlier bytes. */
  #outside: Uint8Array[] = [];
  #item: Uint8Array[] = [];
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #inItems = false;
  /** Number of bytes of a string at the list's depth that match `items`; -1: the string differs. */
  #matched = -1;

  /** @param take Called with each item that is an object or an array, in order. */
  constructor(take: (item: unknown) => void) {
    this.#take = take;
  }

  /**
   * Takes the next bytes. The bytes are not kept.
   *
   * @throws {SyntaxError} for an item that is not JSON.
   */
  push(bytes: Uint8Array): void {
    let start = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (this.#inString) {
        at = this.#stringFrom(bytes, at);
        continue;
      }
      switch (byte) {
        case QUOTE:
          this.#inString = true;
          if (this.#depth === LIST) this.#matched = 0;
          break;
        case COMMA:
          if (this.#depth === LIST) this.#matched = -1;
          break;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          this.#depth++;
          if (this.#inItems) {
            if (this.#depth === BETWEEN_ITEMS + 1) start = at;
          } else if (this.#depth === BETWEEN_ITEMS && byte === OPEN_BRACKET && this.#matched === ITEMS.length) {
            this.#inItems = true;
            this.#outside.push(bytes.slice(start, at + 1));
          }
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          this.#depth--;
          if (!this.#inItems) break;
          if (this.#depth === BETWEEN_ITEMS) this.#itemEnds(bytes.subarray(start, at + 1));
          else if (this.#depth === LIST) {
            this.#inItems = false;
            this.#matched = -1;
            start = at;
          }
      }
    }
    if (!this.#inItems) this.#outside.push(bytes.slice(start));
    else if (this.#depth > BETWEEN_ITEMS) this.#item.push(bytes.slice(start));
  }

  /**
   * The list without its items.
   *
   * @throws {SyntaxError} for a text that is incomplete or not JSON.
   */
  end(): unknown {
    return JSON.parse(this.#text(this.#outside));
  }

  /** Follows a string. @returns the index of the string's last byte, or the number of bytes */
  #stringFrom(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) {
        this.#inString = false;
        return at;
      }
      if (this.#depth === LIST && this.#matched >= 0) {
        this.#matched = byte === ITEMS[this.#matched] ? this.#matched + 1 : -1;
      }
    }
    return bytes.length;
  }

  #itemEnds(last: Uint8Array): void {
    const text = this.#item.length === 0 ? this.#decoder.decode(last) : this.#text([...this.#item, last]);
    this.#item = [];
    this.#take(JSON.parse(text));
  }

  #text(pieces: readonly Uint8Array[]): string {
    const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    return this.#decoder.decode(all);
  }
}
