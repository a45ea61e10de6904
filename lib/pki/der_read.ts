/**
 * Reads DER strictly: refuses an element that runs over the end, an indefinite or needlessly long length, and bytes
 * after the end. The reader never reads outside the given bytes, and copies no bytes.
 *
 * Rules: ITU-T X.690, sections 8 and 10.
 *
 * @module
 */
import { PkiError } from "./pki_error.ts";

/** Tags of the elements in certificates, requests and keys. */
export const Tag = {
  BOOLEAN: 0x01,
  INTEGER: 0x02,
  BIT_STRING: 0x03,
  OCTET_STRING: 0x04,
  NULL: 0x05,
  OBJECT_ID: 0x06,
  UTC_TIME: 0x17,
  GENERALIZED_TIME: 0x18,
  SEQUENCE: 0x30,
  SET: 0x31,
} as const;

/** An element: a view of bytes that may hold further elements. */
export class DerElement {
  readonly tag: number;
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #from: number;
  readonly #to: number;

  /**
   * @param start Where the tag begins.
   * @param from Where the content begins, behind tag and length.
   * @param to The end of the content.
   */
  constructor(bytes: Uint8Array, start: number, from: number, to: number) {
    this.tag = bytes[start]!;
    this.#bytes = bytes;
    this.#start = start;
    this.#from = from;
    this.#to = to;
  }

  get content(): Uint8Array {
    return this.#bytes.subarray(this.#from, this.#to);
  }

  /** Tag, length and content. */
  get whole(): Uint8Array {
    return this.#bytes.subarray(this.#start, this.#to);
  }

  /** A reader of the content. */
  reader(what: string): DerReader {
    return new DerReader(this.#bytes, what, this.#from, this.#to);
  }
}

/** Walks a sequence of elements. */
export class DerReader {
  readonly #bytes: Uint8Array;
  readonly #what: string;
  readonly #end: number;
  #at: number;

  /**
   * @param what The name of the thing in errors: `certificate`.
   * @param from The first byte to read. Default: 0.
   * @param to The end, behind the last byte. Default: the end of the bytes.
   */
  constructor(bytes: Uint8Array, what: string, from = 0, to = bytes.length) {
    this.#bytes = bytes;
    this.#what = what;
    this.#at = from;
    this.#end = to;
  }

  /** No element is left. */
  get done(): boolean {
    return this.#at >= this.#end;
  }

  /** Tag of the next element; undefined at the end. */
  get nextTag(): number | undefined {
    return this.done ? undefined : this.#bytes[this.#at];
  }

  /**
   * The next element.
   *
   * @param tag The expected tag. Default: any.
   * @throws {PkiError} at the end, or at an element with another tag.
   */
  take(tag?: number): DerElement {
    const bytes = this.#bytes;
    const start = this.#at;
    const found = this.nextTag;
    if (found === undefined) throw this.#error("it ends early");
    if (tag !== undefined && found !== tag) throw this.#error(`expected tag ${tag} and not ${found} at byte ${start}`);
    if ((found & 0x1f) === 0x1f) throw this.#error(`a tag of several bytes at byte ${start}`);
    let at = start + 1;
    if (at >= this.#end) throw this.#error("it ends early");
    let length = bytes[at++]!;
    if (length >= 0x80) {
      const digits = length & 0x7f;
      if (digits === 0 || digits > 3 || at + digits > this.#end) throw this.#error(`a bad length at byte ${start}`);
      length = 0;
      for (let i = 0; i < digits; i++) length = length * 256 + bytes[at++]!;
      if (length < 0x80 || length < 256 ** (digits - 1)) throw this.#error(`a length too long at byte ${start}`);
    }
    const end = at + length;
    if (end > this.#end) throw this.#error("it ends early");
    this.#at = end;
    return new DerElement(bytes, start, at, end);
  }

  /** The next element if the tag matches. */
  optional(tag: number): DerElement | undefined {
    return this.nextTag === tag ? this.take(tag) : undefined;
  }

  /** A reader of the next element's content. The next element must have the tag. */
  inside(tag: number): DerReader {
    return this.take(tag).reader(this.#what);
  }

  /** @throws {PkiError} when an element is left. */
  finish(): void {
    if (!this.done) throw this.#error(`bytes after its end, at byte ${this.#at}`);
  }

  #error(reason: string): PkiError {
    return new PkiError(`expected a ${this.#what} in DER: ${reason}`);
  }
}

/** The content of a BIT STRING with whole bytes. */
export function bitsOf({ content }: DerElement, what: string): Uint8Array {
  if (content[0] !== 0) throw new PkiError(`expected a ${what} in DER: a bit string of parts of bytes`);
  return content.subarray(1);
}

/**
 * An object identifier in dotted form.
 *
 * @throws {PkiError} when the identifier breaks off, or has a number with leading zeros: other readers may see another
 * identifier.
 */
export function objectIdText({ content }: Pick<DerElement, "content">): string {
  let text = "";
  let arc = 0;
  if (content.length === 0 || content.at(-1)! >= 0x80) throw new PkiError("expected a whole object identifier in DER");
  for (const [at, byte] of content.entries()) {
    if (byte === 0x80 && (at === 0 || content[at - 1]! < 0x80)) {
      throw new PkiError("expected an object identifier in DER without zeros before a number");
    }
    arc = arc * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    text += text === "" ? firstArcs(arc) : `.${arc}`;
    arc = 0;
  }
  return text;
}

/** The first two arcs are encoded as one number. */
function firstArcs(number: number): string {
  const top = Math.min(2, Math.floor(number / 40));
  return `${top}.${number - top * 40}`;
}

/** A byte order mark is part of a name, as in a comparison of bytes. */
const decoders = { "utf-8": new TextDecoder("utf-8", { ignoreBOM: true }), latin1: new TextDecoder("latin1") } as const;

/** The text of bytes. Invalid bytes become U+FFFD. */
export function bytesText(bytes: Uint8Array, encoding: "utf-8" | "latin1" = "utf-8"): string {
  return decoders[encoding].decode(bytes);
}

/**
 * Milliseconds since 1970 of a UTCTime or GeneralizedTime in a certificate (RFC 5280, section 4.1.2.5).
 *
 * @throws {PkiError} for an invalid time.
 */
export function timeOf({ tag, content }: DerElement): number {
  const text = bytesText(content, "latin1");
  const year = tag === Tag.UTC_TIME ? (Number(text.slice(0, 2)) < 50 ? "20" : "19") : "";
  const form = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(year + text);
  const written = form === null ? "" : `${form.slice(1, 4).join("-")}T${form.slice(4).join(":")}.000Z`;
  const ms = Date.parse(written);
  // The platform turns February 30 into March 2.
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== written) {
    throw new PkiError(`expected a time in DER, got ${JSON.stringify(text)}`);
  }
  return ms;
}

/**
 * The value of an optional BOOLEAN. Absent: false.
 *
 * @throws {PkiError} when the byte is not DER's true or false: readers disagree about other bytes.
 */
export function truthOf(element: DerElement | undefined): boolean {
  if (element === undefined) return false;
  const [byte] = element.content;
  if (element.content.length !== 1 || (byte !== 0x00 && byte !== 0xff)) {
    throw new PkiError("expected true or false in DER");
  }
  return byte === 0xff;
}

/** Bytes in lower-case hexadecimal digits. */
export function hex(bytes: Uint8Array): string {
  return bytes.toHex();
}

/** Whether two runs of bytes are the same. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
