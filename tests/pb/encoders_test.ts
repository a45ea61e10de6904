import assert from "node:assert/strict";
import protobuf from "protobufjs";
import { entryMessages } from "../../proto/entries.ts";
import { encode } from "../../lib/pb/codec.ts";
import { decode, messageType } from "../../lib/pb/reflect.ts";

/** A message with something in every field, down to some depth. */
function filled(type: protobuf.Type, depth: number): Record<string, unknown> {
  const message: Record<string, unknown> = {};
  for (const field of type.fieldsArray) {
    field.resolve();
    if (field.partOf && field.partOf.fieldsArray.some((other) => other.name in message)) continue;
    const value = sample(field, depth);
    if (value === undefined) continue;
    message[field.name] = field instanceof protobuf.MapField ? { key: value } : field.repeated ? [value, value] : value;
  }
  return message;
}

function sample(field: protobuf.FieldBase, depth: number): unknown {
  const { resolvedType } = field;
  if (resolvedType instanceof protobuf.Enum) return Object.values(resolvedType.values).at(-1);
  if (resolvedType instanceof protobuf.Type) return depth === 0 ? undefined : filled(resolvedType, depth - 1);
  if (field.type === "string") return `text of ${field.name}`;
  if (field.type === "bytes") return new Uint8Array([1, 2, 3]);
  if (field.type === "bool") return true;
  return field.type === "double" || field.type === "float" ? 0.5 : 300;
}

Deno.test("each message with a generated encoder has the bytes of reflection, and is read back unchanged", () => {
  for (const name of entryMessages) {
    const type = messageType(name);
    const message = filled(type, 3);
    const bytes = encode(name, message);
    assert.deepEqual(bytes, type.encode(message).finish(), name);
    if (Object.keys(message).length > 0) assert.notEqual(bytes.length, 0, name);
    assert.deepEqual(encode(name, decode(name, bytes)), bytes, name);
  }
});
