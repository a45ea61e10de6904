/**
 * Protobuf messages by full name, encoded by functions that set-up wrote ahead of time.
 *
 * Messages are plain objects with the snake_case field names of their `.proto` files, typed by `proto/gen/types.ts`.
 *
 * @module
 */
import protobuf from "protobufjs/minimal.js";
import { encoders } from "../../proto/gen/encoders.ts";

// Node's Buffer is slower here than plain arrays: most strings are short, and each of them would make a view.
(protobuf.util as { Buffer: unknown }).Buffer = null;
protobuf.configure();

/** Prefix of every type URL that names a protobuf message. */
export const TYPE_URL_PREFIX = "type.googleapis.com/";

/** A `google.protobuf.Any`. */
export interface Any {
  type_url: string;
  value: Uint8Array;
}

/**
 * Encodes a plain object; fields that the message lacks are a programming error that the type checker finds.
 *
 * @param name Full name, for example `envoy.config.cluster.v3.Cluster`.
 * @throws {RangeError} When there is no encoder of that message (name it in `proto/entries.ts`).
 */
export function encode(name: string, message: object): Uint8Array {
  return encoder(name)(message).finish();
}

function encoder(name: string) {
  const found = encoders[name];
  if (!found) throw new RangeError(`unknown protobuf message "${name}": name it in proto/entries.ts`);
  return found;
}

const NO_BYTES = new Uint8Array(0);

/**
 * Packs a message into an `Any`; default: one without fields.
 *
 * @throws {RangeError} When there is no encoder of that message.
 */
export function any(name: string, message?: object): Any {
  const write = encoder(name);
  return { type_url: TYPE_URL_PREFIX + name, value: message === undefined ? NO_BYTES : write(message).finish() };
}
