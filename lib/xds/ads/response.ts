/**
 * A discovery response: a head of its own, and resources, which are byte runs that many responses share.
 *
 * Fields: `DiscoveryResponse` (version_info 1, type_url 4, nonce 5, control_plane 6) and `DeltaDiscoveryResponse`
 * (system_version_info 1, type_url 4, nonce 5, removed_resources 6, control_plane 8).
 *
 * @module
 */
import type { Block } from "../../resource/block.ts";
import { storedGzipMember } from "../../resource/gzip.ts";
import { fieldSize, putField, utf8Bytes } from "../../resource/protowire.ts";

/** Responses below this many bytes are not worth compressing. */
const COMPRESS_ABOVE = 1024;

/** The fields of a head. */
export interface ResponseHead {
  readonly delta: boolean;
  readonly version: string;
  readonly typeUrl: string;
  readonly nonce: string;
  /** Incremental only. */
  readonly removed: readonly string[];
  /** Identifier of this server, shown by clients; empty = left out. */
  readonly controlPlane: string;
}

/** Encodes a head. Followed by resource runs it is a complete message. */
function encodeHead(head: ResponseHead): Uint8Array {
  const fields: [number, Uint8Array][] = [
    [1, utf8Bytes(head.version)],
    [4, utf8Bytes(head.typeUrl)],
    [5, utf8Bytes(head.nonce)],
  ];
  if (head.delta) { for (const name of head.removed) fields.push([6, utf8Bytes(name)]); }
  if (head.controlPlane !== "") {
    const identifier = utf8Bytes(head.controlPlane);
    const message = new Uint8Array(fieldSize(identifier.length));
    putField(message, 0, 1, identifier);
    fields.push([head.delta ? 8 : 6, message]);
  }
  const out = new Uint8Array(fields.reduce((sum, [, bytes]) => sum + fieldSize(bytes.length), 0));
  let at = 0;
  for (const [field, bytes] of fields) at = putField(out, at, field, bytes);
  return out;
}

/** A message in the runs in which it is sent. */
export interface AssembledResponse {
  readonly parts: readonly Uint8Array[];
  /** Bytes before compression. */
  readonly plainBytes: number;
  /** Each part is a member of gzip. */
  readonly compressed: boolean;
}

/** Puts a response together; copies nothing but the head. */
export function assemble(head: ResponseHead, blocks: readonly Block[], acceptsGzip: boolean): AssembledResponse {
  const bytes = encodeHead(head);
  const plainBytes = blocks.reduce((sum, block) => sum + block.size, bytes.length);
  if (!acceptsGzip || plainBytes < COMPRESS_ABOVE) {
    return { parts: [bytes, ...blocks.map((block) => block.plain)], plainBytes, compressed: false };
  }
  return { parts: [storedGzipMember(bytes), ...blocks.map((block) => block.gzip)], plainBytes, compressed: true };
}
