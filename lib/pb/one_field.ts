/**
 * Separates one field of an encoded message from the others, to change the field without decoding the rest.
 *
 * @module
 */
import protobuf from "protobufjs/minimal.js";

/** An encoded message in two parts. */
export interface TakenField {
  /** The field with its tags, with all repetitions: a message with only this field. */
  readonly field: Uint8Array;
  /** The message with another value of the field, in the same form. */
  with(field: Uint8Array): Uint8Array;
}

/**
 * Takes a field out of a message. A missing field is empty, and a new value goes to the end.
 *
 * @param message Not copied if the field is contiguous, as encoders write fields.
 * @param number Number of the field.
 * @throws {Error} On bytes that are not a message.
 */
export function takeField(message: Uint8Array, number: number): TakenField {
  const reader = protobuf.Reader.create(message);
  const own: Uint8Array[] = [];
  const others: Uint8Array[] = [];
  let from = 0, ofField = false, before = -1;
  const cut = (to: number) => {
    if (to > from) (ofField ? own : others).push(message.subarray(from, to));
    from = to;
  };
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const tag = reader.uint32();
    const isField = tag >>> 3 === number;
    if (isField !== ofField) {
      cut(start);
      ofField = isField;
      if (before < 0) before = others.length;
    }
    reader.skipType(tag & 7);
  }
  cut(message.length);
  const at = before < 0 ? others.length : before;
  return {
    field: joined(own),
    with: (field) => joined([...others.slice(0, at), field, ...others.slice(at)]),
  };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const out = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
