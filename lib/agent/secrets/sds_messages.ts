/**
 * The messages of secret discovery, in both variants.
 *
 * @module
 */
import { MessageWriter } from "../../grpc/message_writer.ts";
import { utf8Bytes, WireCursor } from "../../resource/protowire.ts";
import { type EncodedSecret, SECRET_TYPE } from "./agent_secret.ts";

/** A request of a client. */
export interface SdsRequest {
  /** State of the world: all wanted names. Delta: additional names. */
  readonly names: readonly string[];
  /** Delta: names that are no longer wanted. */
  readonly unwanted: readonly string[];
  /** Delta: the client's versions, by name. */
  readonly versions: ReadonlyMap<string, string>;
  readonly nonce: string;
  /** Why the client rejects the response with the nonce. */
  readonly error: string | undefined;
}

const FIELDS = {
  sotw: { names: 3, unwanted: -1, versions: -1, nonce: 5, error: 6 },
  delta: { names: 3, unwanted: 4, versions: 5, nonce: 6, error: 7 },
} as const;

/**
 * Reads a request.
 *
 * @throws {WireError} when the bytes are not a request
 */
export function readSdsRequest(variant: keyof typeof FIELDS, bytes: Uint8Array): SdsRequest {
  const fields = FIELDS[variant];
  const names: string[] = [];
  const unwanted: string[] = [];
  const versions = new Map<string, string>();
  let nonce = "";
  let error: string | undefined;
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.wireType !== 2) cursor.skip();
    else if (cursor.field === fields.names) names.push(cursor.string());
    else if (cursor.field === fields.unwanted) unwanted.push(cursor.string());
    else if (cursor.field === fields.versions) versions.set(...readEntry(cursor.bytes()));
    else if (cursor.field === fields.nonce) nonce = cursor.string();
    else if (cursor.field === fields.error) error = statusMessage(cursor.bytes());
    else cursor.skip();
  }
  return { names, unwanted, versions, nonce, error };
}

function readEntry(bytes: Uint8Array): [string, string] {
  const texts = ["", ""];
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.wireType === 2 && (cursor.field === 1 || cursor.field === 2)) texts[cursor.field - 1] = cursor.string();
    else cursor.skip();
  }
  return texts as [string, string];
}

/** `Status`: message = 2. */
function statusMessage(bytes: Uint8Array): string {
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.field === 2 && cursor.wireType === 2) return cursor.string();
    cursor.skip();
  }
  return "no reason given";
}

/** A state-of-the-world response. */
export function sdsResponse(secrets: readonly EncodedSecret[], version: string, nonce: string): Uint8Array {
  const out = new MessageWriter().string(1, version);
  for (const { bytes } of secrets) out.bytes(2, inAny(bytes));
  return out.string(4, SECRET_TYPE).string(5, nonce).finish();
}

export function sdsDeltaResponse(secrets: readonly EncodedSecret[], version: string, nonce: string): Uint8Array {
  const out = new MessageWriter().string(1, version);
  for (const secret of secrets) {
    const resource = new MessageWriter().bytes(1, utf8Bytes(secret.version)).bytes(2, inAny(secret.bytes));
    out.bytes(2, resource.bytes(3, utf8Bytes(secret.name)).finish());
  }
  return out.string(4, SECRET_TYPE).string(5, nonce).finish();
}

function inAny(bytes: Uint8Array): Uint8Array {
  return new MessageWriter().string(1, SECRET_TYPE).bytes(2, bytes).finish();
}
