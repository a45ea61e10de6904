/**
 * The few protobuf wire primitives for hand-written messages: varints, length-delimited fields, and a cursor that walks
 * the fields of a message without decoding unneeded fields.
 *
 * Rules: https://protobuf.dev/programming-guides/encoding/
 *
 * @module
 */

const utf8 = new TextEncoder();
const text = new TextDecoder();

/** Number of bytes of the varint of `value` (a non-negative safe integer). */
export function varintSize(value: number): number {
  let size = 1;
  while (value >= 128) {
    value = Math.floor(value / 128);
    size++;
  }
  return size;
}

/** Writes `value` as a varint at `at`. Returns the offset after the varint. */
export function putVarint(out: Uint8Array, at: number, value: number): number {
  while (value >= 128) {
    out[at++] = (value % 128) | 128;
    value = Math.floor(value / 128);
  }
  out[at++] = value;
  return at;
}

/** Size of a length-delimited field (wire type 2) with a field number below 16. */
export function fieldSize(length: number): number {
  return 1 + varintSize(length) + length;
}

/** Writes tag and length of a length-delimited field (field number below 16). Returns the offset of the content. */
export function putFieldHead(out: Uint8Array, at: number, field: number, length: number): number {
  out[at++] = (field << 3) | 2;
  return putVarint(out, at, length);
}

/** Writes a whole length-delimited field. Returns the offset after the field. */
export function putField(out: Uint8Array, at: number, field: number, bytes: Uint8Array): number {
  at = putFieldHead(out, at, field, bytes.length);
  out.set(bytes, at);
  return at + bytes.length;
}

/** Size of a text field (number below 16). */
export function textFieldSize(value: string): number {
  return fieldSize(isAscii(value) ? value.length : utf8.encode(value).length);
}

/** Writes a whole text field. Returns the offset after the field. */
export function putTextField(out: Uint8Array, at: number, field: number, value: string): number {
  // Names and versions are usually short ASCII texts, for which a call into the runtime costs more than a loop.
  if (!isAscii(value)) return putField(out, at, field, utf8.encode(value));
  at = putFieldHead(out, at, field, value.length);
  for (let i = 0; i < value.length; i++) out[at + i] = value.charCodeAt(i);
  return at + value.length;
}

function isAscii(value: string): boolean {
  for (let i = 0; i < value.length; i++) if (value.charCodeAt(i) > 127) return false;
  return true;
}

/** UTF-8 bytes of a string. */
export function utf8Bytes(value: string): Uint8Array {
  return utf8.encode(value);
}

/** Decodes UTF-8. Invalid sequences become U+FFFD. */
export function utf8Text(bytes: Uint8Array): string {
  return text.decode(bytes);
}

/** Bytes that cannot be a protobuf message: truncated, an over-long varint, an unknown wire type. */
export class WireError extends Error {
  override name = "WireError";
}

/**
 * Walks the fields of a message. Call {@linkcode WireCursor.next} until false. `field` and `wireType` then describe the
 * field. Every field must be consumed with `bytes()`, `varint()` or `skip()`.
 *
 * @throws WireError on bytes that are not a protobuf message. Never reads outside `data`.
 */
export class WireCursor {
  /** Number of the current field. */
  field = 0;
  /** Wire type of the current field: 0 varint, 1 64 bit, 2 length-delimited, 5 32 bit. */
  wireType = 0;
  /** Offset of the current field's tag. */
  start = 0;
  /** Offset of the next unread byte. */
  at: number;

  constructor(readonly data: Uint8Array, from = 0, readonly end: number = data.length) {
    this.at = from;
  }

  /** Steps to the next field; false at the end of the message. */
  next(): boolean {
    if (this.at >= this.end) return false;
    this.start = this.at;
    const first = this.data[this.at]!;
    if (first < 128) { // A number below 16, as in nearly all fields.
      this.at++;
      this.field = first >> 3;
      this.wireType = first & 7;
    } else {
      const tag = this.varint();
      this.field = Math.floor(tag / 8);
      this.wireType = tag % 8;
    }
    if (this.field === 0) throw new WireError("field number 0");
    return true;
  }

  /** Reads a varint. Values above 2^53 lose precision (no field read here is so large). */
  varint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 10; i++) {
      if (this.at >= this.end) throw new WireError("truncated varint");
      const byte = this.data[this.at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    throw new WireError("varint longer than 10 bytes");
  }

  /** Skips the current field and directly following fields with the same number. Returns the end of the last field. */
  run(): number {
    const { data, end, start } = this;
    const tag = data[start]!;
    let to = this.lengthPrefix();
    if (tag >= 128) return this.at = to;
    to = endOfShortFields(data, to, end, tag);
    while (to < end && data[to] === tag) {
      this.at = to + 1;
      to = endOfShortFields(data, this.lengthPrefix(), end, tag);
    }
    return this.at = to;
  }

  /** Reads the length of a length-delimited field; the content begins at `at` and ends before the returned offset. */
  lengthPrefix(): number {
    if (this.wireType !== 2) throw new WireError(`field ${this.field} has wire type ${this.wireType}, expected 2`);
    const short = this.at < this.end && this.data[this.at]! < 128;
    const length = short ? this.data[this.at++]! : this.varint();
    if (length > this.end - this.at) throw new WireError(`field ${this.field} is longer than its message`);
    return this.at + length;
  }

  /** The content of a length-delimited field, as a view on the data. */
  bytes(): Uint8Array {
    const end = this.lengthPrefix();
    const from = this.at;
    this.at = end;
    return this.data.subarray(from, end);
  }

  /** The content of a length-delimited field as text. */
  string(): string {
    return text.decode(this.bytes());
  }

  /** Passes over the current field. */
  skip(): void {
    if (this.wireType === 0) this.varint();
    else if (this.wireType === 1) this.#advance(8);
    else if (this.wireType === 2) this.bytes();
    else if (this.wireType === 5) this.#advance(4);
    else throw new WireError(`unknown wire type ${this.wireType}`);
  }

  #advance(count: number): void {
    if (count > this.end - this.at) throw new WireError("truncated field");
    this.at += count;
  }
}

/**
 * Skips the fields after `at` with the same one-byte tag and less than 128 bytes each. Returns the end of the last
 * field. Clients that subscribe to a thousand names send such runs.
 *
 * The loop is a separate function because of V8, which compiles a long loop while the loop runs. Code after the loop
 * that has not run yet is not compiled, so each call left the compiled code at the end of the loop: a hundred times in
 * two of five connects of 400 proxies.
 */
function endOfShortFields(data: Uint8Array, at: number, end: number, tag: number): number {
  while (at < end && data[at] === tag) {
    const length = data[at + 1]!;
    if (length >= 128 || at + 2 + length > end) break;
    at += 2 + length;
  }
  return at;
}
