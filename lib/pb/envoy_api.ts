/**
 * All messages of Envoy 1.40, from the descriptors in Envoy's binary. For patches, which may use any message. The
 * messages that the programs build have their own encoders (`codec.ts`).
 *
 * The descriptors are loaded at the first use: 12 MiB and 0.15 s, which users without patches do not pay.
 *
 * @module
 */
import { gunzipSync } from "node:zlib";
import protobuf from "protobufjs";
import "protobufjs/ext/protojson.js";
import type * as ProtoJson from "protobufjs/ext/protojson.js";
import packed from "../../proto/gen/envoy_api.json" with { type: "json" };
import { type Any, written } from "./codec.ts";

/** A decoded message: only present fields, in snake_case, as builders write fields. */
export type ApiMessage = Readonly<Record<string, unknown>>;

const { protojson } = protobuf as unknown as { readonly protojson: typeof ProtoJson };

let root: protobuf.Root | undefined;

function api(): protobuf.Root {
  if (root !== undefined) return root;
  const text = new TextDecoder().decode(gunzipSync(Uint8Array.fromBase64(packed.gzip)));
  root = protobuf.Root.fromJSON(JSON.parse(text));
  root.resolveAll();
  return root;
}

/** A message of Envoy's API by full name. Undefined when unknown to this release. */
export function findApiType(name: string): protobuf.Type | undefined {
  let type = found.get(name);
  if (type !== undefined) return type;
  const candidate = api().lookup(name, [protobuf.Type]);
  if (candidate instanceof protobuf.Type && candidate.fullName === `.${name}`) found.set(name, type = candidate);
  return type;
}

/** Known messages. A search takes as long as encoding a small message. */
const found = new Map<string, protobuf.Type>();

/**
 * A message of Envoy's API by full name.
 *
 * @throws {RangeError} When this release does not know the message.
 */
export function apiType(name: string): protobuf.Type {
  const type = findApiType(name);
  if (type === undefined) throw new RangeError(`Envoy has no message ${name}`);
  return type;
}

/**
 * A message from protobuf's JSON, with field names in either case, and `@type` in packed messages.
 *
 * @param unknown The treatment of fields and enum names unknown to this release.
 * @throws {Error} On JSON that does not fit the message: unknown types, values of the wrong kind, two fields of a
 * oneof.
 */
export function messageFromJson(name: string, json: unknown, unknown: "refused" | "left out" = "refused"): ApiMessage {
  const read = protojson.fromJson(apiType(name), json, { ignoreUnknownFields: unknown === "left out" });
  return apiType(name).toObject(read);
}

/**
 * Decodes bytes.
 *
 * @throws {RangeError} When this release does not know the message.
 */
export function decodeApi(name: string, bytes: Uint8Array): ApiMessage {
  const type = apiType(name);
  return type.toObject(type.decode(bytes));
}

/**
 * Encodes a message.
 *
 * @throws {RangeError} When this release does not know the message.
 */
export function encodeApi(name: string, message: object): Uint8Array {
  const type = apiType(name);
  return written((one, writer) => type.encode(one, writer), message);
}

/** The full name of the message in an `Any`. Empty: none. */
export function packedName(any: Partial<Any>): string {
  const url = any.type_url ?? "";
  return url.slice(url.lastIndexOf("/") + 1);
}
