/**
 * Google's well-known messages as protobuf's JSON: times as text, structures as plain JSON.
 *
 * @module
 */

type WellKnownMessage = Readonly<Record<string, unknown>>;

/**
 * A decoded well-known message as JSON. Undefined for a message without a special form.
 *
 * @param name Name below `google.protobuf.`.
 * @param redacted Replaces each text in the message. Numbers and flags then become null.
 */
export function wellKnownJson(name: string, message: WellKnownMessage, redacted: string | undefined): unknown {
  switch (name) {
    case "Duration":
      return redacted === undefined ? durationText(message) : "0s";
    case "Timestamp":
      return new Date(Number(message.seconds ?? 0) * 1000).toISOString().slice(0, 19) + `${fraction(message)}Z`;
    case "Struct":
      return structJson(message, redacted);
    case "Value":
      return valueJson(message, redacted);
    case "ListValue":
      return (message.values as readonly WellKnownMessage[] | undefined ?? []).map((one) => valueJson(one, redacted));
    default:
      return undefined;
  }
}

function durationText(message: WellKnownMessage): string {
  const negative = Number(message.seconds ?? 0) < 0 || Number(message.nanos ?? 0) < 0;
  const seconds = String(message.seconds ?? 0).replace("-", "");
  return `${negative ? "-" : ""}${seconds}${fraction(message)}s`;
}

/** Nanoseconds as a fraction of 3, 6 or 9 digits, as few as possible. */
function fraction({ nanos }: WellKnownMessage): string {
  const digits = String(Math.abs(Number(nanos ?? 0))).padStart(9, "0");
  if (/^0*$/.test(digits)) return "";
  return `.${digits.replace(/^(\d{3}|\d{6})0+$/, "$1")}`;
}

function structJson({ fields }: WellKnownMessage, redacted: string | undefined): Record<string, unknown> {
  const entries = Object.entries(fields as Readonly<Record<string, WellKnownMessage>> | undefined ?? {});
  return Object.fromEntries(entries.map(([key, value]) => [key, valueJson(value, redacted)]));
}

/** protobufjs has a separate definition of this message, with names in camelCase. */
function valueJson(value: WellKnownMessage, redacted: string | undefined): unknown {
  if (Object.hasOwn(value, "structValue")) return structJson(value.structValue as WellKnownMessage, redacted);
  if (Object.hasOwn(value, "listValue")) {
    const { values = [] } = value.listValue as { readonly values?: readonly WellKnownMessage[] };
    return values.map((one) => valueJson(one, redacted));
  }
  if (Object.hasOwn(value, "stringValue")) return redacted ?? value.stringValue;
  if (redacted !== undefined) return null;
  if (Object.hasOwn(value, "numberValue")) return value.numberValue;
  if (Object.hasOwn(value, "boolValue")) return value.boolValue;
  return null;
}
