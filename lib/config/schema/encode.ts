/**
 * Typed values back into the form that users write: what decoding reads as the same value again.
 *
 * @module
 */
import { formatDuration } from "../../kernel/time/duration.ts";
import { type Field, isObject } from "./field.ts";

/** A value of a field as JSON that decodes to it; durations are text, everything else is as it is. */
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

/** An object with each member encoded by its field; members that are not set are left out. */
function encodeMembers(value: unknown, fieldOf: (name: string) => Field<unknown> | undefined): unknown {
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => {
    const field = fieldOf(name);
    return [name, field === undefined ? member : encodeField(field, member)];
  }));
}
