/**
 * The few fields of discovery messages that a relay reads or writes. The other fields pass through as bytes.
 *
 * Field numbers: envoy/service/discovery/v3/discovery.proto.
 *
 * @module
 */
import { MessageWriter } from "../../grpc/message_writer.ts";
import { utf8Bytes, WireCursor, WireError } from "../../resource/protowire.ts";
import type { WorkloadReport } from "../health/health_state.ts";

/** Variant of the protocol: state of the world, or delta. */
export type RelayVariant = "sotw" | "delta";

/** Field numbers that differ between the variants. */
const FIELDS = {
  sotw: {
    request: { type: 4, nonce: 5, error: 6 },
    response: { version: 1, resources: 2, type: 4, nonce: 5, removed: 0 },
  },
  delta: {
    request: { type: 2, nonce: 6, error: 7 },
    response: { version: 1, resources: 2, type: 4, nonce: 5, removed: 6 },
  },
} as const;

/** One resource of a response. */
export interface RelayedResource {
  /** Empty in a state-of-the-world response, which has no names. */
  readonly name: string;
  readonly version: string;
  /** The message, without its type. */
  readonly body: Uint8Array;
}

/** A response for the agent itself. */
export interface OwnResponse {
  readonly typeUrl: string;
  readonly nonce: string;
  /** Of a state-of-the-world response. */
  readonly version: string;
  readonly resources: readonly RelayedResource[];
  readonly removed: readonly string[];
}

/** The type of a request. Empty when the request has no type, or the bytes are not a request. */
export function requestType(variant: RelayVariant, bytes: Uint8Array): string {
  return textField(bytes, FIELDS[variant].request.type);
}

/** The nonce of the answered response. Empty: the request answers no response. */
export function requestNonce(variant: RelayVariant, bytes: Uint8Array): string {
  return textField(bytes, FIELDS[variant].request.nonce);
}

/** Whether a request rejects a response. */
export function isRejection(variant: RelayVariant, bytes: Uint8Array): boolean {
  return textField(bytes, FIELDS[variant].request.error) !== "";
}

/** The part of a request that answers a response. */
export interface RelayedAnswer {
  /** Empty if the request has no type, or the bytes are not a request. The same holds for `nonce`. */
  readonly typeUrl: string;
  readonly nonce: string;
  /** Code of the reason of a rejection; undefined: the request rejects nothing. */
  readonly code: number | undefined;
}

export function readAnswer(variant: RelayVariant, bytes: Uint8Array): RelayedAnswer {
  const fields = FIELDS[variant].request;
  const found: { typeUrl: string; nonce: string; code: number | undefined } = {
    typeUrl: "",
    nonce: "",
    code: undefined,
  };
  try {
    const cursor = new WireCursor(bytes);
    while (cursor.next()) {
      if (cursor.wireType !== 2) cursor.skip();
      else if (cursor.field === fields.type) found.typeUrl = cursor.string();
      else if (cursor.field === fields.nonce) found.nonce = cursor.string();
      else if (cursor.field === fields.error) found.code = statusCode(cursor.bytes());
      else cursor.skip();
    }
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { typeUrl: "", nonce: "", code: undefined };
  }
  return found;
}

/** `Status`: code = 1. */
function statusCode(bytes: Uint8Array): number {
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.field === 1 && cursor.wireType === 0) return cursor.varint();
    cursor.skip();
  }
  return 0;
}

/** The names in a state-of-the-world request. Empty when the bytes are not a request. */
export function requestNames(bytes: Uint8Array): string[] {
  return namesIn(bytes, 3);
}

/** The names that an incremental request gives up. Empty when the bytes are not a request. */
export function unwantedNames(bytes: Uint8Array): string[] {
  return namesIn(bytes, 4);
}

function namesIn(bytes: Uint8Array, field: number): string[] {
  const names: string[] = [];
  try {
    const cursor = new WireCursor(bytes);
    while (cursor.next()) {
      if (cursor.field === field && cursor.wireType === 2) names.push(cursor.string());
      else cursor.skip();
    }
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return [];
  }
  return names;
}

/** The type of a response. */
export function responseType(variant: RelayVariant, bytes: Uint8Array): string {
  return textField(bytes, FIELDS[variant].response.type);
}

function textField(bytes: Uint8Array, field: number): string {
  try {
    const cursor = new WireCursor(bytes);
    while (cursor.next()) {
      if (cursor.field === field && cursor.wireType === 2) return cursor.string();
      cursor.skip();
    }
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
  }
  return "";
}

/**
 * Reads a response as a whole. The result holds copies, so the received bytes are not kept.
 *
 * @throws {WireError} when the bytes are not a response
 */
export function readResponse(variant: RelayVariant, bytes: Uint8Array): OwnResponse {
  const fields = FIELDS[variant].response;
  const found = { typeUrl: "", nonce: "", version: "" };
  const resources: RelayedResource[] = [];
  const removed: string[] = [];
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.wireType !== 2) cursor.skip();
    else if (cursor.field === fields.type) found.typeUrl = cursor.string();
    else if (cursor.field === fields.nonce) found.nonce = cursor.string();
    else if (cursor.field === fields.version) found.version = cursor.string();
    else if (cursor.field === fields.removed) removed.push(cursor.string());
    else if (cursor.field === fields.resources) {
      const content = cursor.bytes();
      resources.push(variant === "delta" ? readResource(content) : { name: "", version: "", body: anyValue(content) });
    } else cursor.skip();
  }
  return { ...found, resources, removed };
}

/** `Resource`: version = 1, resource (an Any) = 2, name = 3. */
function readResource(bytes: Uint8Array): RelayedResource {
  const found = { name: "", version: "", body: new Uint8Array(0) };
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.wireType !== 2) cursor.skip();
    else if (cursor.field === 1) found.version = cursor.string();
    else if (cursor.field === 2) found.body = anyValue(cursor.bytes());
    else if (cursor.field === 3) found.name = cursor.string();
    else cursor.skip();
  }
  return found;
}

/** `Any`: type_url = 1, value = 2. */
function anyValue(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.field === 2 && cursor.wireType === 2) return new Uint8Array(cursor.bytes());
    cursor.skip();
  }
  return new Uint8Array(0);
}

/** Versions of a type of the agent's own: by name, and of the last response. */
export interface OwnVersions {
  readonly version: string;
  readonly byName: Readonly<Record<string, string>>;
}

/** Nothing yet. */
export const NO_VERSIONS: OwnVersions = { version: "", byName: {} };

/** The first request for all resources of a type, with the versions that the agent has already. */
export function firstRequest(variant: RelayVariant, typeUrl: string, versions: OwnVersions): Uint8Array {
  const out = new MessageWriter();
  if (variant === "sotw") return out.string(1, versions.version).string(4, typeUrl).finish();
  out.string(2, typeUrl);
  for (const [name, version] of Object.entries(versions.byName)) {
    out.bytes(5, new MessageWriter().bytes(1, utf8Bytes(name)).bytes(2, utf8Bytes(version)).finish());
  }
  return out.finish();
}

/** The answer to a response: an acknowledgement, or a rejection with its reason. */
export function answerRequest(
  variant: RelayVariant,
  response: OwnResponse,
  accepted: OwnVersions,
  error: string | undefined,
): Uint8Array {
  const out = new MessageWriter();
  // Status: code = 1, message = 2.
  const detail = error === undefined ? undefined : new MessageWriter().varint(1, INTERNAL).string(2, error).finish();
  return variant === "sotw"
    ? out.string(1, accepted.version).string(4, response.typeUrl).string(5, response.nonce).bytes(6, detail).finish()
    : out.string(2, response.typeUrl).string(6, response.nonce).bytes(7, detail).finish();
}

/** `google.rpc.Code.INTERNAL`. */
const INTERNAL = 13;

/** A response that is rejected for the proxy. */
export interface RejectedResponse {
  readonly typeUrl: string;
  readonly nonce: string;
  readonly reason: string;
}

/**
 * The rejection of a response that the proxy has acknowledged.
 * @param last The acknowledgement. A state-of-the-world request repeats the wanted resources and the present version.
 */
export function rejectRequest(
  variant: RelayVariant,
  { typeUrl, nonce, reason }: RejectedResponse,
  last: Uint8Array,
): Uint8Array {
  const detail = new MessageWriter().varint(1, INTERNAL).string(2, reason).finish();
  const out = new MessageWriter();
  if (variant === "delta") return out.string(2, typeUrl).string(6, nonce).bytes(7, detail).finish();
  // DiscoveryRequest: version_info = 1, resource_names = 3.
  const cursor = new WireCursor(last);
  while (cursor.next()) {
    if (cursor.wireType === 2 && (cursor.field === 1 || cursor.field === 3)) out.bytes(cursor.field, cursor.bytes());
    else cursor.skip();
  }
  return out.string(4, typeUrl).string(5, nonce).bytes(6, detail).finish();
}

/** Type of reports of the workload's health: requests without an answer, unhealthy with an error. */
const HEALTH_TYPE = "type.googleapis.com/istio.v1.HealthInformation";

/** The request with the workload's health. */
export function healthRequest(variant: RelayVariant, report: WorkloadReport): Uint8Array {
  const reason = report.healthy ? undefined : report.reason;
  const detail = reason === undefined ? undefined : new MessageWriter().varint(1, INTERNAL).string(2, reason).finish();
  const out = new MessageWriter();
  return variant === "sotw"
    ? out.string(4, HEALTH_TYPE).bytes(6, detail).finish()
    : out.string(2, HEALTH_TYPE).bytes(7, detail).finish();
}

/** Versions once a response is accepted. */
export function acceptedVersions(before: OwnVersions, { version, resources, removed }: OwnResponse): OwnVersions {
  const gone = new Set(removed);
  const kept = Object.entries(before.byName).filter(([name]) => !gone.has(name));
  const added = resources.filter(({ name }) => name !== "").map((one) => [one.name, one.version] as const);
  return { version, byName: Object.fromEntries([...kept, ...added]) };
}
