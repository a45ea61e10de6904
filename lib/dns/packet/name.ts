/**
 * Names as text and as bytes of a packet: labels, each after its length, then a zero.
 *
 * @module
 */
import { MAX_NAME } from "./wire.ts";

/**
 * The wire form of a name, in lower case. A dot at the end is optional. The empty text and `.` are the root.
 * @returns Undefined when the text is not a name: an empty label, a label longer than 63 bytes, or more than 255 bytes
 * in all. Hosts are ASCII (international names in their `xn--` form). A character up to U+00FF is the byte of this
 * number, and other characters are not allowed.
 */
export function nameToWire(text: string): Uint8Array | undefined {
  const end = text.endsWith(".") ? text.length - 1 : text.length;
  if (end === 0) return new Uint8Array(1);
  if (end + 2 > MAX_NAME) return undefined;
  const wire = new Uint8Array(end + 2);
  let label = 0;
  for (let i = 0; i <= end; i++) {
    const code = i === end ? DOT : text.charCodeAt(i);
    if (code > 0xff) return undefined;
    if (code !== DOT) {
      wire[i + 1] = lower(code);
      continue;
    }
    const length = i - label;
    if (length === 0 || length > 63) return undefined;
    wire[label] = length;
    label = i + 1;
  }
  return wire;
}

const DOT = 0x2e;

/** The text of a well-formed wire name, with the final dot. Bytes outside of printable ASCII appear as `\ddd`. */
export function nameToText(packet: Uint8Array, at: number): string {
  let text = "";
  for (let length = packet[at] ?? 0; length !== 0; length = packet[at] ?? 0) {
    for (let i = at + 1; i <= at + length; i++) text += character(packet[i] ?? 0);
    text += ".";
    at += length + 1;
  }
  return text === "" ? "." : text;
}

function character(byte: number): string {
  if (byte === 0x2e || byte === 0x5c) return "\\" + String.fromCharCode(byte);
  return byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "\\" + String(byte).padStart(3, "0");
}

/** An ASCII capital as a small letter. Other bytes stay the same, and so do lengths of labels (at most 63). */
export function lower(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}
