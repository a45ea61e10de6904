/**
 * Reads discovery requests straight from the wire. Names stay a run of bytes unless they are new.
 *
 * Fields: `DiscoveryRequest` and `DeltaDiscoveryRequest` of
 * https://www.envoyproxy.io/docs/envoy/latest/api-v3/service/discovery/v3/discovery.proto
 *
 * @module
 */
import { concatBytes } from "../../resource/block.ts";
import type { NameSet } from "../../resource/name_set.ts";
import type { InternedNames } from "../../resource/names.ts";
import { utf8Text, WireCursor, WireError } from "../../resource/protowire.ts";
import { Code } from "../../grpc/codes.ts";
import { RpcError } from "../../grpc/status.ts";

/** Why a client rejects a response. */
export interface ClientError {
  readonly code: number;
  /** For people. */
  readonly message: string;
  /** The client's whole text, which may name resources. Of a text above 8 kB: the beginning and the end. */
  readonly whole: string;
}

/** A request of either variant. */
export interface AdsRequest {
  /** The encoded node; empty when absent. */
  readonly node: Uint8Array;
  readonly typeUrl: string;
  /** State of the world: all names wanted. Incremental: names to subscribe to. */
  readonly names: NameSet;
  /** Incremental only: names to unsubscribe from. */
  readonly unsubscribe: NameSet;
  /** Incremental only: versions of the client's resources from an earlier stream, by name. */
  readonly initialVersions: KnownVersions | undefined;
  /**
   * State of the world only: the request names the version of a response taken by the client, on this stream or before.
   */
  readonly hasVersion: boolean;
  /** Empty when absent. */
  readonly nonce: string;
  /** Present when the client rejects a response. */
  readonly error: ClientError | undefined;
}

/** Field numbers of one variant; 0 = the variant has no such field. */
interface VariantFields {
  readonly version: number;
  readonly node: number;
  readonly names: number;
  readonly unsubscribe: number;
  readonly typeUrl: number;
  readonly initialVersions: number;
  readonly nonce: number;
  readonly error: number;
}

const SOTW: VariantFields = {
  ...{ version: 1, node: 2, names: 3, unsubscribe: 0, typeUrl: 4, initialVersions: 0, nonce: 5, error: 6 },
};
const DELTA: VariantFields = {
  ...{ version: 0, node: 1, names: 3, unsubscribe: 4, typeUrl: 2, initialVersions: 5, nonce: 6, error: 7 },
};

/**
 * Decodes a request.
 *
 * @throws RpcError INVALID_ARGUMENT when the bytes are not such a message, or the message names no type
 */
export function readRequest(bytes: Uint8Array, delta: boolean, table: InternedNames): AdsRequest {
  try {
    return scan(bytes, delta ? DELTA : SOTW, table);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new RpcError(Code.INVALID_ARGUMENT, `the request is not a discovery request: ${error.message}`);
  }
}

const NONE = new Uint8Array(0);

/** Bytes of a type URL; the longest of the protocol's own has 74. */
const MAX_TYPE_URL = 256;

/** Kept bytes of a rejection's text. Envoy itself cuts texts at 4 kB. */
const MAX_REJECTION = 8192;
/** The part of {@linkcode MAX_REJECTION} for the end of the text. */
const REJECTION_END = 1024;

function scan(bytes: Uint8Array, fields: VariantFields, table: InternedNames): AdsRequest {
  let node: Uint8Array = NONE;
  let typeUrl = "";
  let nonce = "";
  let error: AdsRequest["error"];
  let hasVersion = false;
  const names = new FieldRun(bytes);
  const unsubscribe = new FieldRun(bytes);
  const versions = new FieldRun(bytes);
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    const { field, start } = cursor;
    if (field === fields.names) names.add(start, cursor.run());
    else if (field === fields.unsubscribe) unsubscribe.add(start, cursor.run());
    else if (field === fields.typeUrl) typeUrl = readTypeUrl(cursor.bytes());
    else if (field === fields.version) hasVersion = cursor.bytes().length > 0;
    else if (field === fields.nonce) nonce = cursor.string();
    else if (field === fields.node) node = cursor.bytes();
    else if (field === fields.error) error = readStatus(cursor.bytes());
    else if (field === fields.initialVersions) versions.add(start, cursor.run());
    else cursor.skip();
  }
  if (typeUrl === "") throw new RpcError(Code.INVALID_ARGUMENT, "type_url: expected a type URL, got none");
  return {
    node,
    typeUrl,
    names: table.decode(names.bytes),
    unsubscribe: table.decode(unsubscribe.bytes),
    initialVersions: versions.bytes.length === 0 ? undefined : new KnownVersions(versions.bytes),
    hasVersion,
    nonce,
    error,
  };
}

/** Collects the fields of one number. The usual uninterrupted run stays a view, without a copy. */
class FieldRun {
  #runs: [number, number][] | undefined;
  readonly #data: Uint8Array;

  constructor(data: Uint8Array) {
    this.#data = data;
  }

  add(from: number, to: number): void {
    const last = this.#runs?.at(-1);
    if (last !== undefined && last[1] === from) last[1] = to;
    else (this.#runs ??= []).push([from, to]);
  }

  get bytes(): Uint8Array {
    return this.#runs === undefined ? NONE : concatBytes(this.#runs.map(([from, to]) => this.#data.subarray(from, to)));
  }
}

function readTypeUrl(bytes: Uint8Array): string {
  if (bytes.length <= MAX_TYPE_URL) return utf8Text(bytes);
  throw new RpcError(Code.INVALID_ARGUMENT, `type_url: expected at most ${MAX_TYPE_URL} bytes, got ${bytes.length}`);
}

/** `google.rpc.Status`: code = 1, message = 2. Of a long message the beginning is read. */
function readStatus(bytes: Uint8Array): ClientError {
  let code = 0;
  let message = "";
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.field === 1 && cursor.wireType === 0) code = cursor.varint();
    else if (cursor.field === 2) message = shortened(cursor.bytes());
    else cursor.skip();
  }
  return { code, message, whole: message };
}

/**
 * A text of at most {@linkcode MAX_REJECTION} bytes. A longer text loses the middle, and gains a note of the length.
 * Envoy names a resource at the beginning, and the reason at the end.
 */
function shortened(bytes: Uint8Array): string {
  if (bytes.length <= MAX_REJECTION) return utf8Text(bytes);
  let end = MAX_REJECTION - REJECTION_END;
  let from = bytes.length - REJECTION_END;
  // Bytes 10xxxxxx continue a character of UTF-8. A character has at most four bytes.
  const goesOn = (at: number) => (bytes[at]! & 0xc0) === 0x80;
  while (end > MAX_REJECTION - REJECTION_END - 4 && goesOn(end)) end--;
  while (from < bytes.length - REJECTION_END + 4 && goesOn(from)) from++;
  return `${utf8Text(bytes.subarray(0, end))} ... (8 kB of ${bytes.length} bytes) ... ${
    utf8Text(bytes.subarray(from))
  }`;
}

/**
 * The entries of `initial_resource_versions` (map entries: name = 1, version = 2), read in place. Most entries are
 * found by their bytes (`VersionTable`). Only the other entries become text.
 */
export class KnownVersions {
  /** The fields, to be read in words. */
  readonly view: DataView;

  /** @param run The fields in a row, with tags and lengths. */
  constructor(readonly run: Uint8Array) {
    this.view = new DataView(run.buffer, run.byteOffset, run.byteLength);
  }

  /**
   * Calls back for each field, with the start of the field, the start of its content, and its end in the run. Continues
   * at the place returned by the callback.
   *
   * @param visit returns the end of the field, or of a later field if it has read several
   * @throws RpcError INVALID_ARGUMENT when the entries do not decode
   */
  each(visit: (from: number, content: number, to: number) => number): void {
    try {
      const cursor = new WireCursor(this.run);
      while (cursor.next()) {
        const to = cursor.lengthPrefix();
        cursor.at = visit(cursor.start, cursor.at, to);
      }
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      throw new RpcError(Code.INVALID_ARGUMENT, `initial_resource_versions: ${error.message}`);
    }
  }

  /**
   * The names of all entries.
   *
   * @throws RpcError INVALID_ARGUMENT when the entries do not decode
   */
  names(): string[] {
    const names: string[] = [];
    this.each((_, content, to) => {
      names.push(this.entry(content, to).name);
      return to;
    });
    return names;
  }

  /**
   * Name and version of an entry, to be read within {@linkcode KnownVersions.each}.
   *
   * @throws WireError when the entry does not decode
   */
  entry(content: number, to: number): { readonly name: string; readonly version: string } {
    let name = "";
    let version = "";
    const cursor = new WireCursor(this.run, content, to);
    while (cursor.next()) {
      if (cursor.field === 1) name = cursor.string();
      else if (cursor.field === 2) version = cursor.string();
      else cursor.skip();
    }
    return { name, version };
  }
}
