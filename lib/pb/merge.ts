/**
 * Merges messages like protobuf: set values replace, messages merge field by field, lists are appended, map entries
 * replace. Unlike in protobuf, durations and packed messages replace as a whole, because half of one duration and half
 * of another have no meaning.
 *
 * @module
 */
import protobuf from "protobufjs";
import type { Any } from "./codec.ts";
import { type ApiMessage, apiType, decodeApi, encodeApi, packedName } from "./envoy_api.ts";

/** Messages that replace as a whole. */
const WHOLE = new Set([".google.protobuf.Duration", ".google.protobuf.Any"]);

/**
 * A message with the fields of another merged in. Neither input is changed.
 *
 * @param name Full name of both.
 */
export function merged(name: string, into: ApiMessage, from: ApiMessage): ApiMessage {
  return mergedAs(apiType(name), into, from);
}

/** Like {@linkcode merged}, but the name stays, because others refer to the name. */
export function mergedUnderName(name: string, into: ApiMessage, { name: _, ...from }: ApiMessage): ApiMessage {
  return merged(name, into, from);
}

function mergedAs(type: protobuf.Type, into: ApiMessage, from: ApiMessage): ApiMessage {
  const result: Record<string, unknown> = { ...into };
  for (const [name, value] of Object.entries(from)) {
    const field = type.fields[name];
    if (field === undefined || value === undefined) continue;
    for (const other of field.partOf?.oneof ?? []) if (other !== name) delete result[other];
    result[name] = mergedField(field, result[name], value);
  }
  return result;
}

function mergedField(field: protobuf.Field, into: unknown, from: unknown): unknown {
  if (field instanceof protobuf.MapField) return { ...into as object | undefined, ...from as object };
  if (field.repeated) return [...into as readonly unknown[] | undefined ?? [], ...from as readonly unknown[]];
  const { resolvedType } = field;
  if (!(resolvedType instanceof protobuf.Type) || WHOLE.has(resolvedType.fullName)) return from;
  return mergedAs(resolvedType, into as ApiMessage | undefined ?? {}, from as ApiMessage);
}

/**
 * A packed message with another merged in.
 *
 * @throws {TypeError} When the types differ.
 */
export function mergedAny(into: Any, from: Any): Any {
  const name = packedName(into);
  const other = packedName(from);
  if (other !== name) {
    throw new TypeError(`a message of type ${other || "unknown"} does not merge into one of type ${name}`);
  }
  const message = merged(name, decodeApi(name, bytesOf(into)), decodeApi(name, bytesOf(from)));
  return { type_url: into.type_url, value: encodeApi(name, message) };
}

const NO_BYTES = new Uint8Array(0);

/** The bytes of a packed message. A message without fields may lack bytes. */
export function bytesOf(any: Partial<Any>): Uint8Array {
  return any.value ?? NO_BYTES;
}
