/**
 * Typed values back in users' form: decoding gives the same value again.
 *
 * @module
 */
import { formatDuration } from "../../kernel/time/duration.ts";
import { type Field, isObject } from "./field.ts";

/** A value of a field as JSON for decoding; durations become text, other scalars are unchanged. */
export function encodeField({ shape }: Field<unknown>, value: unknown): unknown {
  switch (shape.type) {
    case "duration":
      return typeof value === "number" ? formatDuration(value) : value;
    case "list":
      return Array.isArray(value) ? value.map((element) => encodeField(shape.element, element)) : value;
    case "map":
      return encodeMembers(value, () => shape.value);
    case "message":
      return encodeMembers(value, (name) => shape.fields[name]);
    default:
      return value;
  }
}

/** An object with each member encoded by its field, without unset members. */
function encodeMembers(value: unknown, fieldOf: (name: string) => Field<unknown> | undefined): unknown {
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => {
    const field = fieldOf(name);
    return [name, field === undefined ? member : encodeField(field, member)];
  }));
}
