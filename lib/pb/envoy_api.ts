/**
 * All messages that Envoy 1.40 knows, by the descriptors that its program carries. For patches, which may name any of
 * them; messages that the programs build themselves have encoders of their own (`codec.ts`).
 *
 * The descriptors are opened at the first use: 12 MiB and 0.15 s, which users without patches do not pay.
 *
 * @module
 */
import { gunzipSync } from "node:zlib";
import protobuf from "protobufjs";
import "protobufjs/ext/protojson.js";
import type * as ProtoJson from "protobufjs/ext/protojson.js";
import packed from "../../proto/gen/envoy_api.json" with { type: "json" };
import { type Any, written } from "./codec.ts";

/** A decoded message: present fields alone, snake_case, as builders write them. */
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

/** A message of Envoy's API by full name; undefined: this release does not know it. */
export function findApiType(name: string): protobuf.Type | undefined {
  let type = found.get(name);
  if (type !== undefined) return type;
  const candidate = api().lookup(name, [protobuf.Type]);
  if (candidate instanceof protobuf.Type && candidate.fullName === `.${name}`) found.set(name, type = candidate);
  return type;
}

/** Messages that were found; searching takes as long as encoding a small one. */
const found = new Map<string, protobuf.Type>();

/**
 * A message of Envoy's API by full name.
 *
 * @throws {RangeError} This release does not know it.
 */
export function apiType(name: string): protobuf.Type {
  const type = findApiType(name);
  if (type === undefined) throw new RangeError(`Envoy has no message ${name}`);
  return type;
}

/**
 * A message from protobuf's JSON, with field names in either case, and `@type` where a message is packed.
 *
 * @param unknown The treatment of fields and names in enums that this release does not know.
 * @throws {Error} JSON that is no such message: unknown types, values of another kind, two fields of which one may be.
 */
export function messageFromJson(name: string, json: unknown, unknown: "refused" | "left out" = "refused"): ApiMessage {
  const read = protojson.fromJson(apiType(name), json, { ignoreUnknownFields: unknown === "left out" });
  return apiType(name).toObject(read);
}

/** Decodes bytes. @throws {RangeError} This release does not know the message. */
export function decodeApi(name: string, bytes: Uint8Array): ApiMessage {
  const type = apiType(name);
  return type.toObject(type.decode(bytes));
}

/** Encodes a message. @throws {RangeError} This release does not know it. */
export function encodeApi(name: string, message: object): Uint8Array {
  const type = apiType(name);
  return written((one, writer) => type.encode(one, writer), message);
}

/** The full name of the message in an `Any`; empty: it names none. */
export function packedName(any: Partial<Any>): string {
  const url = any.type_url ?? "";
  return url.slice(url.lastIndexOf("/") + 1);
}
