/**
 * One resource as it lies on the wire: encoded once, addressed by the hash of its content, sent to everyone.
 *
 * A `DeltaDiscoveryResponse` carries `repeated Resource resources = 2` and a `DiscoveryResponse` carries
 * `repeated google.protobuf.Any resources = 2`; inside `Resource` the body is `Any resource = 2` as well. So when the
 * body is written last, the bytes of the state-of-the-world form (tag, length, Any) are exactly the tail of the bytes
 * of the delta form (tag, length, Resource): one buffer serves both.
 *
 * @module
 */
import { hash } from "node:crypto";
import { Block, type Form, type InnerBlock, NO_BLOCKS } from "./block.ts";
import { fieldSize, putField, putFieldHead, utf8Bytes } from "./protowire.ts";

/** Facts about a resource beyond its bytes; none of it crosses the wire, none of it is hashed. */
export interface ResourceFacts {
  /** Keys of the configuration objects that made this resource (for the push ledger and rejections). */
  readonly causes?: readonly string[];
  /**
   * Names of `ClusterLoadAssignment` resources without which a client keeps this resource warming: whenever this
   * resource is sent, they are sent again too. A cluster of type EDS gives its service name here.
   */
  readonly warms?: readonly string[];
  /** Further names under which a delta client may subscribe to the resource (`Resource.aliases`). */
  readonly aliases?: readonly string[];
}

const NONE: readonly string[] = [];

/** Bytes from which a shared run of a resource is worth a member of gzip of its own. */
const LEAST_INNER = 4096;

/** A resource, encoded. Immutable. */
export class EncodedResource {
  readonly causes: readonly string[];
  readonly warms: readonly string[];
  readonly aliases: readonly string[];
  /** Runs of `delta` that other resources have, too. */
  readonly #inner: readonly InnerBlock[];

  readonly #sotwAt: number;
  readonly #valueAt: number;

  /** Use {@linkcode encodeResource}. */
  constructor(
    /** Resource name, unique within its type for one proxy. */
    readonly name: string, /** Type URL with the prefix `type.googleapis.com/`. */
    readonly typeUrl:
      string, /** Hash of type, name and bytes: 12 characters of base64url, 72 bits. The version that delta clients see. */
    readonly version: string, /** Field 2 of a `DeltaDiscoveryResponse`: tag, length, `Resource`. */
    readonly delta: Uint8Array,
    sotwAt: number,
    valueAt: number,
    facts: ResourceFacts,
    inner: readonly InnerBlock[],
  ) {
    this.#inner = inner;
    this.#sotwAt = sotwAt;
    this.#valueAt = valueAt;
    this.causes = facts.causes ?? NONE;
    this.warms = facts.warms ?? NONE;
    this.aliases = facts.aliases ?? NONE;
  }

  /** Field 2 of a `DiscoveryResponse`: tag, length, `Any`. A view on the same buffer. */
  get sotw(): Uint8Array {
    return this.delta.subarray(this.#sotwAt);
  }

  /** The shared runs of one form, each with its offset there. */
  inner(form: Form): readonly InnerBlock[] {
    if (form === "delta" || this.#inner.length === 0) return this.#inner;
    return this.#inner.map(({ at, block }) => ({ at: at - this.#sotwAt, block }));
  }

  /** The message itself, as given to {@linkcode encodeResource}. A view on the same buffer. */
  get value(): Uint8Array {
    return this.delta.subarray(this.#valueAt);
  }
}

/** The bytes of some resources as one block. */
export function blockOf(resources: readonly EncodedResource[], form: Form): Block {
  const parts = resources.map((resource) => resource[form]);
  const inner: InnerBlock[] = [];
  let start = 0;
  for (const resource of resources) {
    for (const { at, block } of resource.inner(form)) inner.push({ at: start + at, block });
    start += resource[form].length;
  }
  return new Block(parts, inner.length === 0 ? NO_BLOCKS : inner);
}

/** Characters of a version. */
const VERSION_LENGTH = 12;

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** First 72 bits of the SHA-256, as 12 characters of base64url. */
export function contentHash(content: string | Uint8Array): string {
  // Hexadecimal digests take half the time of others on Deno 2.8.3.
  const hex = hash("sha256", content, "hex");
  let text = "";
  for (let at = 0; text.length < VERSION_LENGTH; at += 6) {
    const bits = parseInt(hex.slice(at, at + 6), 16);
    text += DIGITS[bits >> 18]! + DIGITS[bits >> 12 & 63]! + DIGITS[bits >> 6 & 63]! + DIGITS[bits & 63]!;
  }
  return text;
}

/**
 * Encodes one resource for both forms of the protocol.
 *
 * @param typeUrl type URL, e.g. `type.googleapis.com/envoy.config.cluster.v3.Cluster`
 * @param name resource name
 * @param value the encoded message, as a whole or in runs; copied. A run that is a block is one that other resources have,
 *   too.
 * @param facts see {@linkcode ResourceFacts}
 */
export function encodeResource(
  typeUrl: string,
  name: string,
  value: Uint8Array | readonly (Uint8Array | Block)[],
  facts: ResourceFacts = {},
): EncodedResource {
  const runs = value instanceof Uint8Array ? [value] : value;
  const length = runs.reduce((sum, run) => sum + (run instanceof Block ? run.size : run.length), 0);
  const nameBytes = utf8Bytes(name);
  const typeBytes = utf8Bytes(typeUrl);
  const aliases = (facts.aliases ?? []).map(utf8Bytes);

  // An empty bytes field is left out, as every protobuf encoder does.
  const any = fieldSize(typeBytes.length) + (length === 0 ? 0 : fieldSize(length));
  let resource = fieldSize(nameBytes.length) + fieldSize(VERSION_LENGTH) + fieldSize(any);
  for (const alias of aliases) resource += fieldSize(alias.length);

  const out = new Uint8Array(fieldSize(resource));
  let at = putFieldHead(out, 0, 2, resource);
  at = putField(out, at, 3, nameBytes);
  const versionAt = at = putFieldHead(out, at, 1, VERSION_LENGTH);
  at += VERSION_LENGTH;
  for (const alias of aliases) at = putField(out, at, 4, alias);
  const sotwAt = at;
  at = putFieldHead(out, at, 2, any);
  at = putField(out, at, 1, typeBytes);
  if (length > 0) at = putFieldHead(out, at, 2, length);
  const inner: InnerBlock[] = [];
  for (const run of runs) {
    const bytes = run instanceof Block ? run.plain : run;
    if (run instanceof Block && run.size >= LEAST_INNER) inner.push({ at, block: run });
    out.set(bytes, at);
    at += bytes.length;
  }
  // Everything that the version stands for (name, aliases, type, message) is in place: it is hashed where it lies.
  const version = contentHash(out);
  for (let i = 0; i < VERSION_LENGTH; i++) out[versionAt + i] = version.charCodeAt(i);
  return new EncodedResource(
    name,
    typeUrl,
    version,
    out,
    sotwAt,
    out.length - length,
    facts,
    inner.length === 0 ? NO_BLOCKS : inner,
  );
}
