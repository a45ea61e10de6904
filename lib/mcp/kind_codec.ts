/**
 * Objects of the kinds of the mesh as protobuf, in Istio's messages, for exchange between control planes.
 *
 *     bytes <──> istio.mcp.v1alpha1.Resource { metadata, body: Any } <──> tree of JSON, as a file has it
 *
 * @module
 */
import protobuf from "protobufjs";
import "protobufjs/ext/protojson.js";
import type * as ProtoJson from "protobufjs/ext/protojson.js";
import descriptor from "../../proto/gen/kinds.json" with { type: "json" };
import { KIND_WIRE_TYPES, type KindWireType, MCP_RESOURCE } from "./wire_types.ts";
import { parseDuration } from "../kernel/time/duration.ts";
import { type Any, TYPE_URL_PREFIX } from "../pb/codec.ts";

/** An object on the wire. */
export interface WireObject {
  readonly namespace: string;
  readonly name: string;
  /** Milliseconds since 1970; absent: not known. */
  readonly created?: number;
  /** Version from the object's server; empty: no version. */
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** As JSON in Istio's spelling. */
  readonly spec: object;
}

const { protojson } = protobuf as unknown as { readonly protojson: typeof ProtoJson };

const root = protobuf.Root.fromJSON(descriptor as protobuf.INamespace);
const resource = root.lookupType(MCP_RESOURCE);

/** Type URL in requests for the objects of a kind: `networking.istio.io/v1/VirtualService`. */
export function kindTypeUrl({ apiVersion, istioKind }: KindWireType): string {
  return `${apiVersion}/${istioKind}`;
}

const byTypeUrl = new Map(KIND_WIRE_TYPES.map((type) => [kindTypeUrl(type), type]));

/** The kind of a type URL; undefined: the type URL belongs to no kind of the mesh. */
export function kindOfTypeUrl(typeUrl: string): KindWireType | undefined {
  return byTypeUrl.get(typeUrl);
}

/** The fields of a resource's message, decoded. */
interface DecodedResource {
  readonly metadata?: {
    readonly name?: string;
    readonly create_time?: { readonly seconds?: number; readonly nanos?: number };
    readonly version?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly body?: Partial<Any>;
}

/** Converts durations from the form in files, such as `1m30s`, to the form of protobuf's JSON, such as `90s`. */
function withSeconds(message: protobuf.Type, json: object): object {
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => {
      const field = message.fields[name] ?? message.fields[snakeCase(name)];
      const type = field?.resolve().resolvedType;
      return [name, type instanceof protobuf.Type ? inSeconds(type, value, field instanceof protobuf.MapField) : value];
    }),
  );
}

function inSeconds(type: protobuf.Type, value: unknown, isMap: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => inSeconds(type, one, false));
  if (type.fullName === ".google.protobuf.Duration") {
    const ms = typeof value === "string" ? parseDuration(value) : undefined;
    return ms === undefined ? value : `${(ms / 1000).toFixed(9)}s`;
  }
  // Other messages of Google have a JSON form of their own.
  if (typeof value !== "object" || value === null || type.fullName.startsWith(".google.")) return value;
  if (!isMap) return withSeconds(type, value);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inSeconds(type, one, false)]));
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `NAMESPACE/NAME` of an object; empty: the name cannot be read. */
export function wireName({ value }: Partial<Any>): string {
  try {
    const { metadata } = resource.decode(value ?? new Uint8Array()) as unknown as DecodedResource;
    return metadata?.name ?? "";
  } catch {
    return "";
  }
}

/**
 * Reads an object.
 *
 * @throws {Error} for bytes that are not a resource, for a resource without a name, or with a body of another kind.
 */
export function readWireObject(type: KindWireType, { type_url, value }: Partial<Any>): WireObject {
  if (type_url !== TYPE_URL_PREFIX + MCP_RESOURCE) {
    throw new Error(`got a ${JSON.stringify(type_url ?? "")}, expected ${TYPE_URL_PREFIX}${MCP_RESOURCE}`);
  }
  const decoded = resource.toObject(resource.decode(value ?? new Uint8Array()), { longs: Number }) as DecodedResource;
  const { name: written = "", create_time, version = "", labels = {}, annotations = {} } = decoded.metadata ?? {};
  const [namespace = "", name = "", ...more] = written.split("/");
  if (name === "" || more.length > 0) {
    throw new Error(`metadata.name: got ${JSON.stringify(written)}, expected NAMESPACE/NAME`);
  }
  const expected = TYPE_URL_PREFIX + type.message;
  const body = decoded.body?.type_url;
  if (body !== expected) throw new Error(`${written}: got a body ${JSON.stringify(body ?? "")}, expected ${expected}`);
  const message = root.lookupType(type.message);
  const spec = protojson.toJson(message, message.decode(decoded.body?.value ?? new Uint8Array())) as object;
  const created = create_time && { created: (create_time.seconds ?? 0) * 1000 + (create_time.nanos ?? 0) / 1e6 };
  return { namespace, name, ...created, version, labels, annotations, spec };
}

/**
 * Writes an object.
 *
 * @throws {Error} for a spec that Istio's message cannot hold.
 */
export function writeWireObject(type: KindWireType, object: WireObject): Any {
  const { namespace, name, created, version, labels, annotations, spec } = object;
  const message = root.lookupType(type.message);
  const value = message.encode(protojson.fromJson(message, withSeconds(message, spec))).finish();
  const seconds = created === undefined ? undefined : Math.floor(created / 1000);
  const bytes = resource.encode({
    metadata: {
      name: `${namespace}/${name}`,
      ...(seconds === undefined ? {} : { create_time: { seconds, nanos: Math.round(created! % 1000) * 1e6 } }),
      ...{ version, labels, annotations },
    },
    body: { type_url: TYPE_URL_PREFIX + type.message, value },
  }).finish();
  return { type_url: TYPE_URL_PREFIX + MCP_RESOURCE, value: bytes };
}
