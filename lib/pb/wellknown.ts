/**
 * Google's well-known messages as plain data. Only fields of `Value` are camelCase, because protobufjs has a separate
 * definition of `Value`.
 *
 * @module
 */
import type { google } from "../../proto/gen/types.ts";

/** A `google.protobuf.Duration` from milliseconds (possibly fractional, with a precision of one nanosecond). */
export function duration(ms: number): google.protobuf.Duration {
  const seconds = Math.trunc(ms / 1000);
  const nanos = Math.round((ms - seconds * 1000) * 1e6);
  return nanos === 0 ? { seconds } : { seconds, nanos };
}

/**
 * A wrapped scalar (`UInt32Value`, `BoolValue`, `DoubleValue`, `StringValue` ...): the wrapper distinguishes 0 from
 * absent.
 */
export function wrap<T>(value: T): { value: T } {
  return { value };
}

/** Plain JSON data as a `google.protobuf.Struct`. `undefined` members are omitted. */
export function struct(data: Readonly<Record<string, unknown>>): google.protobuf.Struct {
  const fields: Record<string, google.protobuf.Value> = {};
  for (const [key, value] of Object.entries(data)) {
    if (value !== undefined) fields[key] = structValue(value);
  }
  return { fields };
}

function structValue(value: unknown): google.protobuf.Value {
  if (value === null) return { nullValue: 0 };
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "number") return { numberValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (Array.isArray(value)) return { listValue: { values: value.map(structValue) } };
  return { structValue: struct(value as Record<string, unknown>) };
}

/** The text of a member of a decoded `google.protobuf.Struct`. Undefined: none. Other members cost nothing. */
export function structText(data: google.protobuf.Struct | undefined, member: string): string | undefined {
  return data?.fields?.[member]?.stringValue;
}

/** A decoded `google.protobuf.Struct` as plain JSON data. */
export function fromStruct(data: google.protobuf.Struct | undefined): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(data?.fields ?? {})) out[key] = fromValue(value);
  return out;
}

function fromValue(value: google.protobuf.Value): unknown {
  if (value.stringValue !== undefined) return value.stringValue;
  if (value.numberValue !== undefined) return value.numberValue;
  if (value.boolValue !== undefined) return value.boolValue;
  if (value.structValue !== undefined) return fromStruct(value.structValue);
  if (value.listValue !== undefined) return (value.listValue.values ?? []).map(fromValue);
  return null;
}
