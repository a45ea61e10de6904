/**
 * Bytes that nothing prints by accident.
 *
 * The bytes lie in a private field. JSON, string templates, `console.log`, inspection and structured clones show a word
 * or nothing, wherever in a tree the value is. Code that needs the bytes calls `reveal`; a house test lists the modules
 * with this permission.
 *
 * @module
 */

/** The text printed in place of the bytes. */
const SHOWN = "[concealed]";

/** Secret bytes. */
export class ConcealedBytes {
  readonly #bytes: Uint8Array;

  /** @param bytes Are not copied: the caller keeps no other reference. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The number of bytes. */
  get length(): number {
    return this.#bytes.length;
  }

  /** The bytes themselves, for code that passes them to their receiver. */
  reveal(): Uint8Array {
    return this.#bytes;
  }

  /** Whether both hold the same bytes. */
  equals(other: ConcealedBytes): boolean {
    const theirs = other.#bytes;
    return theirs.length === this.#bytes.length && this.#bytes.every((byte, at) => byte === theirs[at]);
  }

  toJSON(): string {
    return SHOWN;
  }

  toString(): string {
    return SHOWN;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return SHOWN;
  }
}
