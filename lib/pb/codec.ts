/**
 * Protobuf messages by full name, encoded by functions generated during set-up.
 *
 * Messages are plain objects with the snake_case field names of their `.proto` files, typed by `proto/gen/types.ts`.
 *
 * @module
 */
import protobuf from "protobufjs/minimal.js";
import { encoders } from "../../proto/gen/encoders.ts";

// Node's Buffer is slower here than plain arrays: most strings are short, and every string would make a view.
(protobuf.util as { Buffer: unknown }).Buffer = null;
protobuf.configure();

/** Prefix of the type URL of every protobuf message. */
export const TYPE_URL_PREFIX = "type.googleapis.com/";

/** A `google.protobuf.Any`. */
export interface Any {
  type_url: string;
  value: Uint8Array;
}

/**
 * Encodes a plain object. The type checker rejects unknown fields.
 *
 * @param name Full name, for example `envoy.config.cluster.v3.Cluster`.
 * @throws {RangeError} When the message has no encoder (add the message to `proto/entries.ts`).
 */
export function encode(name: string, message: object): Uint8Array {
  return written(encoder(name), message);
}

/** The encoder of a message. Undefined when the message is not in `proto/entries.ts`. */
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

/** Size in bytes above which a writer is not kept. */
const MAX_KEPT = 1024 * 1024;

/**
 * The writer of the last message, for reuse. A new writer begins with 128 bytes and repeatedly copies everything to
 * double the size: for a listener of 10 kB the copying took longer than the writing.
 */
let idle: protobuf.Writer | undefined;

/** The bytes of an encoded message, in a separate buffer. */
export function written(
  write: (message: object, writer?: protobuf.Writer) => protobuf.Writer,
  message: object,
): Uint8Array {
  const writer = idle ?? protobuf.Writer.create();
  idle = undefined; // A throwing encoder leaves half a message in the writer.
  const bytes = write(message, writer).finish();
  if (writer.len <= MAX_KEPT) idle = writer.reset();
  return bytes;
}

const NO_BYTES = new Uint8Array(0);

/**
 * Packs a message into an `Any`. Default: a message without fields.
 *
 * @throws {RangeError} When the message has no encoder.
 */
export function any(name: string, message?: object): Any {
  const write = encoder(name);
  return { type_url: TYPE_URL_PREFIX + name, value: message === undefined ? NO_BYTES : written(write, message) };
}
