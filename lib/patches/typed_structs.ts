/**
 * Messages that patches write as a struct with the name of their type (`TypedStruct`): Envoy makes the message of them,
 * and refuses the resource where it cannot.
 *
 * @module
 */
import { findApiType, messageFromJson, packedName } from "../pb/envoy_api.ts";
import { withSeconds } from "./durations.ts";

const TYPED_STRUCTS: ReadonlySet<string> = new Set(["udpa.type.v1.TypedStruct", "xds.type.v3.TypedStruct"]);

type StructJson = Record<string, unknown>;

/**
 * JSON of a message in which each struct that Envoy could not read as its type is that message itself, so that the reader
 * of the message says what is wrong with it. A type that this release does not know is left to the proxy.
 */
export function withReadableStructs(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withReadableStructs);
  if (typeof json !== "object" || json === null) return json;
  const { "@type": type, type_url, typeUrl, value } = json as StructJson;
  const inner = type_url ?? typeUrl;
  const isStruct = typeof type === "string" && TYPED_STRUCTS.has(packedName({ type_url: type }));
  if (isStruct && typeof inner === "string" && typeof value === "object" && value !== null) {
    const name = packedName({ type_url: inner });
    if (findApiType(name) === undefined || isReadable(name, value)) return json;
    return { "@type": inner, ...withReadableStructs(value) as StructJson };
  }
  return Object.fromEntries(Object.entries(json).map(([key, one]) => [key, withReadableStructs(one)]));
}

/** Envoy takes durations in such structs in seconds alone. */
function isReadable(name: string, value: object): boolean {
  if (JSON.stringify(withSeconds(name, value)) !== JSON.stringify(value)) return false;
  try {
    messageFromJson(name, value);
    return true;
  } catch {
    return false;
  }
}
