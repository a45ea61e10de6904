/**
 * Durations in patches: protobuf's JSON has only seconds (`0.5s`), but users write `500ms` and `1m30s`, as in all other
 * kinds.
 *
 * @module
 */
import protobuf from "protobufjs";
import { parseDuration } from "../kernel/time/duration.ts";
import { findApiType, packedName } from "../pb/envoy_api.ts";

const DURATION = ".google.protobuf.Duration";

/**
 * JSON of a message with all durations in seconds. An invalid duration is unchanged, and the reader of the message
 * refuses the value.
 *
 * @param type Full name of the message. A message unknown to Envoy is unchanged.
 */
export function withSeconds(type: string, json: unknown): unknown {
  const known = findApiType(type);
  return known === undefined ? json : message(known, json);
}

function message(type: protobuf.Type, json: unknown): unknown {
  if (type.fullName === DURATION) return seconds(json);
  if (!isPlain(json)) return json;
  if (type.fullName === ".google.protobuf.Any") {
    const packed = json["@type"];
    return typeof packed === "string" ? withSeconds(packedName({ type_url: packed }), json) : json;
  }
  const fields = new Map(type.fieldsArray.flatMap((field) => {
    return [[field.name, field], [protobuf.util.camelCase(field.name), field]] as const;
  }));
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, inField(fields.get(name), value)]));
}

function inField(field: protobuf.Field | undefined, value: unknown): unknown {
  const type = field?.resolvedType;
  if (field === undefined || !(type instanceof protobuf.Type)) return value;
  if (field.repeated) return Array.isArray(value) ? value.map((one) => message(type, one)) : value;
  if (!field.map) return message(type, value);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, message(type, one)]));
}

function seconds(json: unknown): unknown {
  if (typeof json !== "string" || /^-?[\d.]+s$/.test(json)) return json;
  const ms = parseDuration(json);
  return ms === undefined ? json : `${(ms / 1000).toFixed(9)}s`;
}

function isPlain(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
