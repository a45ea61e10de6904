/**
 * Encoded messages without secrets, as messages. `json.ts` replaces secrets in printed messages.
 *
 * @module
 */
import protobuf from "protobufjs";
import { REDACTED } from "./json.ts";
import { findType } from "./reflect.ts";

/** A decoded message, changed in place. */
type OpenMessage = Record<string, unknown>;

const ANY = ".google.protobuf.Any";
const REDACTED_BYTES = new TextEncoder().encode(REDACTED);
const NOTHING = new Uint8Array(0);

/**
 * A message without the values of fields marked as secret, at any depth: texts and bytes become `[redacted]`, numbers
 * are removed. The same bytes if no secret is present. Empty for a message missing in the descriptor, because its
 * content may be secret.
 *
 * @param name Full name.
 * @throws {Error} On bytes that are not such a message.
 */
export function withoutSecrets(name: string, bytes: Uint8Array): Uint8Array {
  return cleanBytes(name, bytes, false);
}

function cleanBytes(name: string, bytes: Uint8Array, isSecret: boolean): Uint8Array {
  const type = findType(name);
  if (type === undefined) return NOTHING;
  const message = type.decode(bytes);
  return clean(type, message as unknown as OpenMessage, isSecret) ? type.encode(message).finish() : bytes;
}

/** @returns Whether a value was replaced. */
function clean(type: protobuf.Type, message: OpenMessage, isSecret: boolean): boolean {
  if (type.fullName === ANY) return cleanAny(message, isSecret);
  let changed = false;
  for (const field of type.fieldsArray) {
    if (!Object.hasOwn(message, field.name)) continue;
    const hidden = isSecret || field.resolve().options?.sensitive === true;
    if (cleanField(field, message, hidden)) changed = true;
  }
  return changed;
}

function cleanAny(message: OpenMessage, isSecret: boolean): boolean {
  const { type_url: url, value } = message;
  if (!(value instanceof Uint8Array) || value.length === 0) return false;
  const name = typeof url === "string" ? url.slice(url.lastIndexOf("/") + 1) : "";
  const cleaned = cleanBytes(name, value, isSecret);
  message.value = cleaned;
  return cleaned !== value;
}

/** Map keys are kept. */
function cleanField(field: protobuf.Field, message: OpenMessage, hidden: boolean): boolean {
  const value = message[field.name];
  const { resolvedType } = field;
  if (resolvedType instanceof protobuf.Type) {
    const inner = field.map ? Object.values(value as OpenMessage) : field.repeated ? value as unknown[] : [value];
    return inner.map((one) => clean(resolvedType, one as OpenMessage, hidden)).includes(true);
  }
  if (!hidden) return false;
  const replacement = field.type === "string" ? REDACTED : field.type === "bytes" ? REDACTED_BYTES : undefined;
  if (replacement === undefined) delete message[field.name];
  else if (field.map) message[field.name] = replacedValues(value as OpenMessage, replacement);
  else if (field.repeated) message[field.name] = (value as unknown[]).map(() => replacement);
  else message[field.name] = replacement;
  return true;
}

function replacedValues(map: OpenMessage, replacement: unknown): OpenMessage {
  return Object.fromEntries(Object.keys(map).map((key) => [key, replacement]));
}
