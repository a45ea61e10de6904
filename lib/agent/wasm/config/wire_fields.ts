/**
 * Fields of an encoded message, read and replaced without the message's type.
 *
 * @module
 */
import { concatBytes } from "../../../resource/block.ts";
import { MessageWriter } from "../../../grpc/message_writer.ts";
import { utf8Text, WireCursor } from "../../../resource/protowire.ts";

/** One length-delimited field. */
export interface WireField {
  readonly number: number;
  readonly content: Uint8Array;
}

/** The length-delimited fields, in order. @throws {WireError} when the bytes are not a message */
export function lengthDelimited(message: Uint8Array): WireField[] {
  const found: WireField[] = [];
  const cursor = new WireCursor(message);
  while (cursor.next()) {
    if (cursor.wireType === 2) found.push({ number: cursor.field, content: cursor.bytes() });
    else cursor.skip();
  }
  return found;
}

/** The last value of a varint field; 0: the field is missing. @throws {WireError} when the bytes are not a message */
export function lastVarint(message: Uint8Array, number: number): number {
  let value = 0;
  const cursor = new WireCursor(message);
  while (cursor.next()) {
    if (cursor.field === number && cursor.wireType === 0) value = cursor.varint();
    else cursor.skip();
  }
  return value;
}

/** The last text of a field; empty: the field is missing. @throws {WireError} when the bytes are not a message */
export function lastText(message: Uint8Array, number: number): string {
  const last = lengthDelimited(message).findLast((field) => field.number === number);
  return last === undefined ? "" : utf8Text(last.content);
}

/**
 * The message in a singular field. Occurrences of the field are merged as protobuf demands, by joining their bytes.
 * Undefined: the field is missing.
 */
export function mergedField(message: Uint8Array, number: number): Uint8Array | undefined {
  const parts = lengthDelimited(message).filter((field) => field.number === number).map(({ content }) => content);
  return parts.length > 1 ? concatBytes(parts) : parts[0];
}

/**
 * Replaces the contents of length-delimited fields.
 *
 * @param change Returns the new content; undefined removes the field.
 */
export function changeFields(
  message: Uint8Array,
  number: number,
  change: (content: Uint8Array) => Uint8Array | undefined,
): Uint8Array {
  const parts: Uint8Array[] = [];
  const cursor = new WireCursor(message);
  while (cursor.next()) {
    if (cursor.field === number && cursor.wireType === 2) {
      const content = change(cursor.bytes());
      if (content !== undefined) parts.push(new MessageWriter().bytes(number, content).finish());
    } else {
      cursor.skip();
      parts.push(message.subarray(cursor.start, cursor.at));
    }
  }
  return concatBytes([new Uint8Array(0), ...parts]);
}

/** Replaces all occurrences of a field by one occurrence at the end. */
export function setField(message: Uint8Array, number: number, content: Uint8Array): Uint8Array {
  const without = changeFields(message, number, () => undefined);
  return concatBytes([without, new MessageWriter().bytes(number, content).finish()]);
}
