/**
 * The descriptors inside an Envoy binary. C++ keeps each `.proto` file in the binary as an encoded
 * `FileDescriptorProto`, so the binary itself lists Envoy's messages and fields.
 *
 * @module
 */
import protobuf from "protobufjs";
import "protobufjs/ext/descriptor.js";
import type * as Descriptor from "protobufjs/ext/descriptor.js";

/** Messages that describe messages. The module adds them to protobufjs, without an export that Deno sees. */
export const descriptor: typeof Descriptor = (protobuf as unknown as { descriptor: typeof Descriptor }).descriptor;

/** The first byte of a `FileDescriptorProto`: the tag of field 1, the name. */
const NAME_TAG = 0x0a;
const LONGEST_NAME = 250;
/** Fields of a `FileDescriptorProto`: length-delimited fields, and varints. */
const DELIMITED = new Set([1, 2, 3, 4, 5, 6, 7, 8, 12]);
const VARINTS = new Set([10, 11, 14]);

/** All files of a program, each once, sorted by name. */
export function embeddedDescriptors(program: Uint8Array): Descriptor.IFileDescriptorProto[] {
  const found = new Map<string, Descriptor.IFileDescriptorProto>();
  const bytes = new Uint8Array(program.buffer, program.byteOffset, program.byteLength);
  for (const end of endsOf(bytes, ".proto")) {
    const start = startOf(bytes, end);
    if (start === undefined) continue;
    const file = decoded(bytes.subarray(start, endOfMessage(bytes, start)));
    if (file?.name && !found.has(file.name)) found.set(file.name, file);
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, file]) => file);
}

/** Positions behind each occurrence of a text. */
function* endsOf(bytes: Uint8Array, text: string): Iterable<number> {
  const wanted = new TextEncoder().encode(text);
  for (let at = bytes.indexOf(wanted[0]!); at >= 0; at = bytes.indexOf(wanted[0]!, at + 1)) {
    if (wanted.every((byte, i) => bytes[at + i] === byte)) yield at + wanted.length;
  }
}

/** The start of a message whose first field is a name with the given end. */
function startOf(bytes: Uint8Array, end: number): number | undefined {
  for (let length = 8; length <= LONGEST_NAME; length++) {
    const head = length < 128 ? [NAME_TAG, length] : [NAME_TAG, (length & 127) | 128, length >> 7];
    const start = end - length - head.length;
    if (start >= 0 && head.every((byte, i) => bytes[start + i] === byte)) return start;
  }
  return undefined;
}

/** The end of the fields of a `FileDescriptorProto`, which has no length in front. */
function endOfMessage(bytes: Uint8Array, start: number): number {
  let at = start;
  for (;;) {
    const tag = varint(bytes, at);
    const field = tag.value >>> 3;
    if (field === 1 && at !== start) return at; // the next file
    if ((tag.value & 7) === 2 && DELIMITED.has(field)) {
      const { value, next } = varint(bytes, tag.next);
      if (next + value > bytes.length) return at;
      at = next + value;
    } else if ((tag.value & 7) === 0 && VARINTS.has(field)) at = varint(bytes, tag.next).next;
    else return at;
  }
}

function varint(bytes: Uint8Array, start: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let at = start, shift = 0; shift < 35; at++, shift += 7) {
    const byte = bytes[at] ?? 0;
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return { value, next: at + 1 };
  }
  return { value: 0, next: start };
}

function decoded(bytes: Uint8Array): Descriptor.IFileDescriptorProto | undefined {
  try {
    return descriptor.FileDescriptorProto.decode(bytes) as Descriptor.IFileDescriptorProto;
  } catch {
    return undefined; // Bytes that only look like a message.
  }
}
