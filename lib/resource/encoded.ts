/**
 * A resource in wire form: encoded once, identified by the hash of its content, sent to everyone.
 *
 * A `DeltaDiscoveryResponse` carries `repeated Resource resources = 2` and a `DiscoveryResponse` carries `repeated
 * google.protobuf.Any resources = 2`. Inside `Resource` the body is `Any resource = 2` as well. So when the body is
 * written last, the bytes of the state-of-the-world form (tag, length, Any) are exactly the tail of the bytes of the
 * delta form (tag, length, Resource): a single buffer serves both.
 *
 * @module
 */
import { hash } from "node:crypto";
import { Block, type ByteRun, bytesOf, type Form, sizeOf } from "./block.ts";
import { fieldSize, putField, putFieldHead, utf8Bytes } from "./protowire.ts";

/** Facts about a resource beyond its bytes. They are neither sent nor hashed. */
export interface ResourceFacts {
  /** Keys of the configuration objects behind the resource (for the push ledger and rejections). */
  readonly causes?: readonly string[];
  /**
   * Parts of these objects in the resource, if less than a whole object may be included: key of the object, list of the
   * parts, and positions (`VirtualService/ns/name http 0 2.1`, where 2.1 is match 1 of rule 2). An object without an
   * entry is not known by parts.
   */
  readonly parts?: readonly string[];
  /**
   * Names of `ClusterLoadAssignment` resources for which a client keeps this resource warming. Whenever this resource
   * is sent, these are sent again, too. A cluster of type EDS lists its service name here.
   */
  readonly warms?: readonly string[];
  /** Further names under which a delta client may subscribe to the resource (`Resource.aliases`). */
  readonly aliases?: readonly string[];
}

const NONE: readonly string[] = [];

/** Size in bytes from which an inner block is kept as a block. Smaller blocks are copied. */
const LEAST_BLOCK = 4096;

/** A block inside a resource. */
interface InnerBlock {
  /** Offset in the resource's own bytes at which the block is inserted. */
  readonly at: number;
  readonly block: Block;
}

const NO_RUNS: readonly ByteRun[] = [];

/** The shared empty list for resources without blocks. */
const NO_BLOCKS: readonly InnerBlock[] = [];

/** Offsets in a resource's own bytes. */
interface Layout {
  /** Offset of the form `sotw`. */
  readonly sotwAt: number;
  /** Offset of the message. */
  readonly valueAt: number;
}

/** A resource, encoded. Immutable. */
export class EncodedResource {
  readonly causes: readonly string[];
  readonly parts: readonly string[];
  readonly warms: readonly string[];
  readonly aliases: readonly string[];
  /** Plain bytes of the form `delta`. */
  readonly size: number;
  /** Field 2 of a `DeltaDiscoveryResponse` (tag, length, `Resource`), without the inner blocks. */
  readonly #own: Uint8Array;
  readonly #blocks: readonly InnerBlock[];
  readonly #sotwAt: number;
  readonly #valueAt: number;

  /** Use {@linkcode encodeResource}. */
  constructor(
    /** Resource name, unique within the type and proxy. */
    readonly name: string,
    /** Type URL with the prefix `type.googleapis.com/`. */
    readonly typeUrl: string,
    /** Hash of type, name and bytes: 12 characters of base64url, 72 bits. Delta clients see this version. */
    readonly version: string,
    own: Uint8Array,
    blocks: readonly InnerBlock[],
    { sotwAt, valueAt }: Layout,
    facts: ResourceFacts,
  ) {
    this.#own = own;
    this.#blocks = blocks;
    this.#sotwAt = sotwAt;
    this.#valueAt = valueAt;
    this.size = blocks.reduce((size, { block }) => size + block.size, own.length);
    this.causes = facts.causes ?? NONE;
    this.parts = facts.parts ?? NONE;
    this.warms = facts.warms ?? NONE;
    this.aliases = facts.aliases ?? NONE;
  }

  /** Plain bytes of a form. */
  sizeOf(form: Form): number {
    return form === "delta" ? this.size : this.size - this.#sotwAt;
  }

  /**
   * The bytes of a form: field 2 of the form's response. Views on the resource's own bytes, with the blocks in between.
   */
  runs(form: Form): readonly ByteRun[] {
    return this.#from(form === "delta" ? 0 : this.#sotwAt);
  }

  /** The message itself, as given to {@linkcode encodeResource}. */
  get value(): Uint8Array {
    return bytesOf(this.#from(this.#valueAt));
  }

  /** All blocks come after the beginning of the message. */
  #from(start: number): readonly ByteRun[] {
    const own = this.#own;
    if (this.#blocks.length === 0) return [start === 0 ? own : own.subarray(start)];
    const runs: ByteRun[] = [];
    let from = start;
    for (const { at, block } of this.#blocks) {
      if (at > from) runs.push(own.subarray(from, at));
      runs.push(block);
      from = at;
    }
    if (from < own.length) runs.push(own.subarray(from));
    return runs;
  }
}

/** The bytes of several resources as one block. */
export function blockOf(resources: readonly EncodedResource[], form: Form): Block {
  return new Block(resources.flatMap((resource) => resource.runs(form)));
}

/** A message that is written directly to its final place, so large messages are not copied. */
export interface WrittenMessage {
  /** Number of bytes that `put` writes. */
  readonly size: number;
  /** Writes the bytes from an offset on. */
  readonly put: (out: Uint8Array, at: number) => void;
}

/** Characters of a version. */
const VERSION_LENGTH = 12;

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** First 72 bits of the SHA-256, as 12 characters of base64url. */
export function contentHash(content: string | Uint8Array): string {
  // Hexadecimal digests take half the time of other digests on Deno 2.8.3.
  const hex = hash("sha256", content, "hex");
  let text = "";
  for (let at = 0; text.length < VERSION_LENGTH; at += 6) {
    const bits = parseInt(hex.slice(at, at + 6), 16);
    text += DIGITS[bits >> 18]! + DIGITS[bits >> 12 & 63]! + DIGITS[bits >> 6 & 63]! + DIGITS[bits & 63]!;
  }
  return text;
}

/**
 * Encodes a resource for both forms of the protocol.
 *
 * @param typeUrl Type URL, e.g. `type.googleapis.com/envoy.config.cluster.v3.Cluster`.
 * @param name Resource name.
 * @param value The encoded message: whole, in runs, or as its writer. Bytes are copied. A block, shared with other
 * resources, is not copied, and its digest is hashed into the version.
 * @param facts See {@linkcode ResourceFacts}.
 */
export function encodeResource(
  typeUrl: string,
  name: string,
  value: Uint8Array | readonly ByteRun[] | WrittenMessage,
  facts: ResourceFacts = {},
): EncodedResource {
  const written = "put" in value ? value : undefined;
  const runs = "put" in value ? NO_RUNS : value instanceof Uint8Array ? [value] : value;
  const length = written?.size ?? sizeOf(runs);
  const copied = length - runs.reduce((sum, run) => isKept(run) ? sum + run.size : sum, 0);
  const nameBytes = utf8Bytes(name);
  const typeBytes = utf8Bytes(typeUrl);
  const aliases = (facts.aliases ?? []).map(utf8Bytes);

  // An empty bytes field is omitted, as in every protobuf encoder.
  const any = fieldSize(typeBytes.length) + (length === 0 ? 0 : fieldSize(length));
  let resource = fieldSize(nameBytes.length) + fieldSize(VERSION_LENGTH) + fieldSize(any);
  for (const alias of aliases) resource += fieldSize(alias.length);

  const own = new Uint8Array(fieldSize(resource) - length + copied);
  let at = putFieldHead(own, 0, 2, resource);
  at = putField(own, at, 3, nameBytes);
  const versionAt = at = putFieldHead(own, at, 1, VERSION_LENGTH);
  at += VERSION_LENGTH;
  for (const alias of aliases) at = putField(own, at, 4, alias);
  const sotwAt = at;
  at = putFieldHead(own, at, 2, any);
  at = putField(own, at, 1, typeBytes);
  if (length > 0) at = putFieldHead(own, at, 2, length);
  const valueAt = at;
  written?.put(own, at);
  const blocks: InnerBlock[] = [];
  for (const run of runs) {
    if (isKept(run)) {
      blocks.push({ at, block: run });
      continue;
    }
    const bytes = run instanceof Block ? run.plain : run;
    own.set(bytes, at);
    at += bytes.length;
  }
  const version = versionOf(own, blocks);
  for (let i = 0; i < VERSION_LENGTH; i++) own[versionAt + i] = version.charCodeAt(i);
  const layout = { sotwAt, valueAt };
  return new EncodedResource(name, typeUrl, version, own, blocks.length === 0 ? NO_BLOCKS : blocks, layout, facts);
}

function isKept(run: ByteRun): run is Block {
  return run instanceof Block && run.size >= LEAST_BLOCK;
}

/** Hashes the version's whole content in place: name, aliases, type, message. */
function versionOf(own: Uint8Array, blocks: readonly InnerBlock[]): string {
  const version = contentHash(own);
  if (blocks.length === 0) return version;
  return contentHash([version, ...blocks.map(({ at, block }) => `${at}:${digestOf(block)}`)].join());
}

const digests = new WeakMap<Block, string>();

/** Hash of a block's bytes, made once for all resources with the block. */
function digestOf(block: Block): string {
  return digests.getOrInsertComputed(block, () => contentHash(block.plain));
}
