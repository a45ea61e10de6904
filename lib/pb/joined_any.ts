/**
 * Packed messages from two runs of bytes: a run shared by many messages, and a run of its own. Encoded messages
 * concatenate, so the shared run is encoded once, and code that knows both parts copies neither.
 *
 * @module
 */
import { type Any, TYPE_URL_PREFIX } from "./codec.ts";

/** The parts of a packed message. */
export interface JoinedParts {
  /** Shared encoded fields. The same array in all sharing messages. */
  readonly shared: Uint8Array;
  /** The other fields, encoded. */
  readonly own: Uint8Array;
}

const partsOf = new WeakMap<object, JoinedParts>();

/**
 * Packs a message of two parts. `value` is joined on access.
 *
 * @param name Full name of the message.
 */
export function joinedAny(name: string, parts: JoinedParts): Any {
  return joined(TYPE_URL_PREFIX + name, parts);
}

function joined(typeUrl: string, parts: JoinedParts): Any {
  const { shared, own } = parts;
  const packed = {
    type_url: typeUrl,
    // An own property, because encoders ignore inherited properties.
    get value() {
      const value = new Uint8Array(shared.length + own.length);
      value.set(shared);
      value.set(own, shared.length);
      return value;
    },
  };
  partsOf.set(packed, parts);
  return packed;
}

/** The parts of a packed message. Undefined for an undivided message. */
export function joinedParts(packed: object): JoinedParts | undefined {
  return partsOf.get(packed);
}

/** The same packed message with other parts. */
export function withParts(packed: Partial<Any>, parts: JoinedParts): Any {
  return joined(packed.type_url ?? "", parts);
}
