/**
 * Protobuf messages by full name, read with their descriptors: decoded, and converted to readable plain data.
 *
 * @module
 */
import protobuf from "protobufjs";
import descriptor from "../../proto/gen/descriptor.json" with { type: "json" };
import nodeDescriptor from "../../proto/gen/node.json" with { type: "json" };
import { TYPE_URL_PREFIX } from "./codec.ts";
import { findApiType } from "./envoy_api.ts";

/**
 * Every stream begins with a `Node`. With a small separate descriptor, the first streams do not wait for the large one.
 */
const NODE = "envoy.config.core.v3.Node";

let root: protobuf.Root | undefined;
const types = new Map<string, protobuf.Type>();

/**
 * The reflected type of a message.
 *
 * @param name Full name, for example `envoy.config.cluster.v3.Cluster`.
 * @throws {RangeError} When the descriptor lacks the message (add the message to `proto/entries.ts`).
 */
export function messageType(name: string): protobuf.Type {
  const known = types.get(name);
  if (known) return known;
  const found = findType(name);
  if (!found) throw new RangeError(`unknown protobuf message "${name}": name it in proto/entries.ts`);
  return found;
}

/** Whether the descriptor has a message of the full name. */
export function knowsMessage(name: string): boolean {
  return findType(name) !== undefined;
}

/** The reflected type of a message. Undefined when the descriptor lacks the message. */
export function findType(name: string): protobuf.Type | undefined {
  const known = types.get(name);
  if (known) return known;
  const found = rootOf(name).lookup(name, [protobuf.Type]);
  if (!(found instanceof protobuf.Type)) return undefined;
  types.set(name, found);
  return found;
}

function rootOf(name: string): protobuf.Root {
  if (name === NODE) return protobuf.Root.fromJSON(nodeDescriptor);
  return root ??= protobuf.Root.fromJSON(descriptor as protobuf.INamespace);
}

/** Decodes bytes to plain data: enums as numbers, 64-bit integers as numbers, absent fields absent. */
export function decode<T>(name: string, bytes: Uint8Array): T {
  const type = messageType(name);
  return type.toObject(type.decode(bytes), { longs: Number, defaults: false }) as T;
}

/**
 * Decodes bytes to readable data: enums by name, `Any` unpacked as `{"@type", ...fields}`, bytes as base64. A message
 * that Envoy lacks, too, keeps its bytes under `@bytes`.
 */
export function readable(name: string, bytes: Uint8Array): Record<string, unknown> {
  const type = findType(name) ?? findApiType(name);
  if (!type) return { "@type": TYPE_URL_PREFIX + name, "@bytes": base64(bytes) };
  const plain = type.toObject(type.decode(bytes), { longs: Number, enums: String, defaults: false });
  return open(plain) as Record<string, unknown>;
}

function open(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(open);
  if (value === null || typeof value !== "object") return value;
  if (value instanceof Uint8Array) return base64(value);
  const record = value as Record<string, unknown>;
  if (typeof record.type_url === "string") {
    const name = record.type_url.slice(record.type_url.lastIndexOf("/") + 1);
    const bytes = record.value instanceof Uint8Array ? record.value : new Uint8Array();
    return { "@type": record.type_url, ...readable(name, bytes) };
  }
  return Object.fromEntries(Object.entries(record).map(([k, v]) => [k, open(v)]));
}

function base64(bytes: Uint8Array): string {
  return bytes.toBase64();
}
