/**
 * Encoded messages as protobuf's JSON, in the form of Envoy's admin pages: field names of the `.proto` files, enums by
 * name, durations as `10s`, 64-bit integers as text, bytes as base64, `Any` unpacked, fields without a value omitted,
 * and secrets replaced.
 *
 * @module
 */
import protobuf from "protobufjs";
import { findType } from "./reflect.ts";
import { wellKnownJson } from "./wellknown_json.ts";

/** The text in place of a secret. */
export const REDACTED = "[redacted]";

/** Whether a message is inside a secret field. `shown`: secrets are not replaced. */
type Secrecy = boolean | "shown";

/** A decoded message: fields by name. Fields missing on the wire come from the prototype. */
type DecodedMessage = Readonly<Record<string, unknown>>;

/**
 * A message as JSON. A field marked as secret in its definition (keys, passwords) becomes `[redacted]`, at any depth.
 *
 * @param name Full name. For a message missing in the descriptor only the type is printed, because its content may be
 * secret.
 * @param secrets `shown`: for a program that needs the values. Definitions mark file names as secret, too.
 * @throws {Error} On bytes that are not such a message.
 */
export function messageJson(
  name: string,
  bytes: Uint8Array,
  secrets: "redacted" | "shown" = "redacted",
): Record<string, unknown> {
  const type = findType(name);
  if (type === undefined) return { "@unknown": `${bytes.length} bytes of a type that this server does not know` };
  return fieldsJson(type, type.decode(bytes) as unknown as DecodedMessage, secrets === "shown" ? secrets : false);
}

/** The same with `@type` in front, as in an `Any`. */
export function anyJson(typeUrl: string, bytes: Uint8Array): Record<string, unknown> {
  return opened({ type_url: typeUrl, value: bytes }, false);
}

function opened({ type_url, value }: DecodedMessage, secret: Secrecy): Record<string, unknown> {
  const url = typeof type_url === "string" ? type_url : "";
  const bytes = value instanceof Uint8Array ? value : new Uint8Array();
  const name = url.slice(url.lastIndexOf("/") + 1);
  const type = findType(name);
  if (type === undefined) return { "@type": url, ...(url === "" ? {} : messageJson(name, bytes)) };
  const json = messageValue(type, type.decode(bytes) as unknown as DecodedMessage, secret);
  // A message whose JSON is not an object, or has keys chosen by the sender, goes into a separate field.
  return isSpecial(type) ? { "@type": url, value: json } : { "@type": url, ...json as Record<string, unknown> };
}

function isSpecial(type: protobuf.Type): boolean {
  const name = type.fullName.slice(1);
  return name.startsWith("google.protobuf.") && name !== "google.protobuf.Empty";
}

function messageValue(type: protobuf.Type, message: DecodedMessage, secret: Secrecy): unknown {
  const name = type.fullName.slice(1);
  if (name === `${GOOGLE}Any`) return opened(message, secret);
  if (!name.startsWith(GOOGLE)) return fieldsJson(type, message, secret);
  const wrapped = WRAPPERS.get(name.slice(GOOGLE.length));
  if (wrapped !== undefined) return scalarJson(wrapped, secret === true ? undefined : message.value);
  return wellKnownJson(name.slice(GOOGLE.length), message, secret === true ? REDACTED : undefined) ??
    fieldsJson(type, message, secret);
}

const GOOGLE = "google.protobuf.";

/** Types of the values in wrappers. */
const WRAPPERS: ReadonlyMap<string, string> = new Map([
  ["DoubleValue", "double"],
  ["Int64Value", "int64"],
  ["UInt64Value", "uint64"],
  ["Int32Value", "int32"],
  ["UInt32Value", "uint32"],
  ["BoolValue", "bool"],
  ["StringValue", "string"],
  ["BytesValue", "bytes"],
]);

function fieldsJson(type: protobuf.Type, message: DecodedMessage, secret: Secrecy): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const field of byNumber(type)) {
    if (!Object.hasOwn(message, field.name)) continue;
    const value = message[field.name];
    const hidden = secret === "shown" ? secret : secret || field.options?.sensitive === true;
    const shown = fieldJson(field, value, hidden);
    if (shown !== undefined) json[field.name] = shown;
  }
  return json;
}

const ORDERED = new WeakMap<protobuf.Type, readonly protobuf.Field[]>();

/** The fields of a message in printing order. */
function byNumber(type: protobuf.Type): readonly protobuf.Field[] {
  let fields = ORDERED.get(type);
  if (fields === undefined) {
    fields = type.fieldsArray.map((field) => field.resolve()).sort((a, b) => a.id - b.id);
    ORDERED.set(type, fields);
  }
  return fields;
}

/** @returns Undefined for an omitted field. */
function fieldJson(field: protobuf.Field, value: unknown, secret: Secrecy): unknown {
  if (field instanceof protobuf.MapField) {
    const entries = Object.entries(value as Record<string, unknown>);
    // Keys are kept: equal replacements would merge entries.
    const shown = entries.map(([key, one]) => [key, elementJson(field, one, secret)] as const);
    return entries.length === 0 ? undefined : Object.fromEntries(shown.filter(([, one]) => one !== undefined));
  }
  if (field.repeated) {
    const shown = (value as readonly unknown[]).map((one) => elementJson(field, one, secret));
    const kept = shown.filter((one) => one !== undefined);
    return kept.length === 0 ? undefined : kept;
  }
  const isSet = field.partOf !== null || field.resolvedType instanceof protobuf.Type || !isDefault(value);
  return isSet ? elementJson(field, value, secret) : undefined;
}

/** Whether a value without presence information counts as absent. */
function isDefault(value: unknown): boolean {
  if (value instanceof Uint8Array) return value.length === 0;
  return value === 0 || value === "" || value === false || String(value) === "0";
}

function elementJson({ resolvedType, type }: protobuf.Field, value: unknown, secret: Secrecy): unknown {
  if (resolvedType instanceof protobuf.Type) return messageValue(resolvedType, value as DecodedMessage, secret);
  if (secret === true) return type === "string" ? REDACTED : type === "bytes" ? base64(REDACTED) : undefined;
  if (resolvedType instanceof protobuf.Enum) return resolvedType.valuesById[value as number] ?? value;
  return scalarJson(type, value);
}

/** @param value Undefined when missing on the wire: the type's zero. */
function scalarJson(type: string, value: unknown): unknown {
  switch (type) {
    case "string":
      return value ?? "";
    case "bool":
      return value ?? false;
    case "bytes":
      return value instanceof Uint8Array ? value.toBase64() : "";
    case "double":
      return finite((value as number | undefined) ?? 0);
    default:
      return /64$/.test(type) ? String(value ?? 0) : value ?? 0;
  }
}

/** Numbers without a JSON form become text. */
function finite(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

function base64(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}
