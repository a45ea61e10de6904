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
  return written(encoder(name), message);
}

/** The encoder of a message; undefined: there is none, it is not named in `proto/entries.ts`. */
export function findEncoder(
  name: string,
): ((message: object, writer?: protobuf.Writer) => protobuf.Writer) | undefined {
  return encoders[name];
}

function encoder(name: string) {
  const found = findEncoder(name);
  if (!found) throw new RangeError(`unknown protobuf message "${name}": name it in proto/entries.ts`);
  return found;
}

/** Bytes above which a writer is not kept. */
const MAX_KEPT = 1024 * 1024;

/**
 * The writer of the last message. A new one begins with 128 bytes and moves all to twice as many again and again: of a
 * listener of 10 kB that took longer than to write it.
 */
let idle: protobuf.Writer | undefined;

/** The bytes that an encoder writes of a message, in a buffer of their own. */
export function written(
  write: (message: object, writer?: protobuf.Writer) => protobuf.Writer,
  message: object,
): Uint8Array {
  const writer = idle ?? protobuf.Writer.create();
  idle = undefined; // an encoder that throws leaves half a message in it
  const bytes = write(message, writer).finish();
  if (writer.len <= MAX_KEPT) idle = writer.reset();
  return bytes;
}

const NO_BYTES = new Uint8Array(0);

/**
 * Packs a message into an `Any`; default: one without fields.
 *
 * @throws {RangeError} When there is no encoder of that message.
 */
export function any(name: string, message?: object): Any {
  const write = encoder(name);
  return { type_url: TYPE_URL_PREFIX + name, value: message === undefined ? NO_BYTES : written(write, message) };
}
