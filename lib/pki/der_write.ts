/**
 * Writes DER, the encoding of keys, certificates and requests. Each function makes an element.
 *
 * Rules: ITU-T X.690, sections 8 and 10.
 *
 * @module
 */

const utf8 = new TextEncoder();

/** An element with a tag. The content is the sequence of the parts. */
export function element(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const digits = length < 0x80 ? 0 : length < 0x100 ? 1 : length < 0x10000 ? 2 : 3;
  const whole = new Uint8Array(2 + digits + length);
  whole[0] = tag;
  whole[1] = digits === 0 ? length : 0x80 | digits;
  for (let i = 0; i < digits; i++) whole[2 + i] = length >> 8 * (digits - 1 - i);
  let at = 2 + digits;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function sequence(...parts: readonly Uint8Array[]): Uint8Array {
  return element(0x30, ...parts);
}

export function set(...parts: readonly Uint8Array[]): Uint8Array {
  return element(0x31, ...parts);
}

/** A non-negative INTEGER from bytes, the most significant byte first. */
export function unsignedInteger(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const digits = bytes.subarray(start);
  if (digits.length === 0) return Uint8Array.of(0x02, 1, 0);
  return digits[0]! < 0x80 ? element(0x02, digits) : element(0x02, Uint8Array.of(0), digits);
}

/** A BOOLEAN of the value true. DER omits false, the default. */
export const TRUE: Uint8Array = Uint8Array.of(0x01, 1, 0xff);

export const NULL: Uint8Array = Uint8Array.of(0x05, 0);

/** An OBJECT IDENTIFIER from the dotted form. */
export function objectId(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const content: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    const digits = [arc % 128];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) digits.unshift(128 + left % 128);
    content.push(...digits);
  }
  return element(0x06, Uint8Array.from(content));
}

/** An OCTET STRING. */
export function octets(...parts: readonly Uint8Array[]): Uint8Array {
  return element(0x04, ...parts);
}

/**
 * A BIT STRING.
 *
 * @param unused Number of unused bits at the end.
 */
export function bits(bytes: Uint8Array, unused = 0): Uint8Array {
  return element(0x03, Uint8Array.of(unused), bytes);
}

export function utf8String(text: string): Uint8Array {
  return element(0x0c, utf8.encode(text));
}

/** A constructed element with the tag `[number]`. */
export function tagged(number: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return element(0xa0 | number, ...parts);
}

/** A primitive element with the tag `[number]`. */
export function taggedBytes(number: number, content: Uint8Array): Uint8Array {
  return element(0x80 | number, content);
}

/** A primitive element with the tag `[number]` and the bytes of a text. */
export function taggedText(number: number, content: string): Uint8Array {
  return taggedBytes(number, utf8.encode(content));
}

/** Positions of the digits in `2026-01-02T03:04:05`. */
const DIGITS = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18];

/**
 * A time in the form of certificates: UTCTime through 2049, GeneralizedTime afterwards (RFC 5280, section 4.1.2.5).
 *
 * @param ms Milliseconds since 1970. Fractions of a second are cut off.
 */
export function time(ms: number): Uint8Array {
  const text = new Date(ms).toISOString();
  const digits = new Uint8Array(DIGITS.length + 1).fill("Z".charCodeAt(0));
  for (let i = 0; i < DIGITS.length; i++) digits[i] = text.charCodeAt(DIGITS[i]!);
  return text < "2050" ? element(0x17, digits.subarray(2)) : element(0x18, digits);
}
