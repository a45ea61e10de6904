/**
 * A discovery response: a head for one stream, and resources as runs of bytes shared by many responses.
 *
 * Fields: `DiscoveryResponse` (version_info 1, type_url 4, nonce 5, control_plane 6) and `DeltaDiscoveryResponse`
 * (system_version_info 1, type_url 4, nonce 5, removed_resources 6, control_plane 7).
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { Block } from "../../resource/block.ts";
import { blockOf, encodeResource } from "../../resource/encoded.ts";
import { storedGzipMember } from "../../resource/gzip.ts";
import { fieldSize, putFieldHead, putTextField, textFieldSize } from "../../resource/protowire.ts";

/** Responses below this size in bytes are not worth compressing. */
const COMPRESS_ABOVE = 1024;

/** The fields of a head. */
export interface ResponseHead {
  readonly delta: boolean;
  readonly version: string;
  readonly typeUrl: string;
  readonly nonce: string;
  /** Incremental only. */
  readonly removed: readonly string[];
  /** Identifier of this server, shown by clients; empty: left out. */
  readonly controlPlane: string;
}

/**
 * Encodes a head into one array, since no two streams share a head. A head followed by runs of resources is a complete
 * message.
 */
function encodeHead({ delta, version, typeUrl, nonce, removed, controlPlane }: ResponseHead): Uint8Array {
  const identifier = controlPlane === "" ? 0 : textFieldSize(controlPlane);
  const names = delta ? removed : [];
  let size = textFieldSize(version) + textFieldSize(typeUrl) + textFieldSize(nonce);
  for (const name of names) size += textFieldSize(name);
  if (identifier > 0) size += fieldSize(identifier);
  const out = Buffer.allocUnsafe(size);
  let at = putTextField(out, 0, 1, version);
  at = putTextField(out, at, 4, typeUrl);
  at = putTextField(out, at, 5, nonce);
  for (const name of names) at = putTextField(out, at, 6, name);
  if (identifier > 0) putTextField(out, putFieldHead(out, at, delta ? 7 : 6, identifier), 1, controlPlane);
  return out;
}

/** Resources of a state-of-the-world response without content beside their names. The name is field 1. */
export function emptyResources(typeUrl: string, names: readonly string[]): Block {
  const resources = names.map((name) => {
    const value = new Uint8Array(textFieldSize(name));
    putTextField(value, 0, 1, name);
    return encodeResource(typeUrl, name, value);
  });
  return blockOf(resources, "sotw");
}

/** A message in runs of bytes, as it is sent. */
export interface AssembledResponse {
  readonly parts: readonly Uint8Array[];
  /** Bytes of all parts. */
  readonly bytes: number;
  /** Bytes before compression. */
  readonly plainBytes: number;
  /** Each part is a member of gzip, or several. */
  readonly compressed: boolean;
}

/** Puts a response together; copies nothing but the head. */
export function assemble(head: ResponseHead, blocks: readonly Block[], acceptsGzip: boolean): AssembledResponse {
  const own = encodeHead(head);
  let plainBytes = own.length;
  for (const block of blocks) plainBytes += block.size;
  const compressed = acceptsGzip && plainBytes >= COMPRESS_ABOVE;
  const parts = [compressed ? storedGzipMember(own) : own];
  for (const block of blocks) parts.push(...(compressed ? block.gzipParts : block.plainParts));
  let bytes = 0;
  for (const part of parts) bytes += part.length;
  return { parts, bytes, plainBytes, compressed };
}
