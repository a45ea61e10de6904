/**
 * Facts with a hash that is computed on first use: hashes are needed only to compare versions of one fact.
 *
 * @module
 */
import { createHmac } from "node:crypto";
import { movedOrigin, type Origin, originInFile } from "../../finding/origin.ts";
import type { ObjectMeta } from "../types.ts";
import type { Fact, FactKind, FactSpecs } from "./types.ts";

/** A fact read from JSON. */
export class HashedFact<K extends FactKind = FactKind> implements Fact<K> {
  readonly kind: K;
  readonly key: string;
  readonly meta: ObjectMeta;
  readonly spec: FactSpecs[K];
  readonly origin: Origin;
  readonly #digestKey: Uint8Array;
  #hash: string | undefined;

  /** @param digestKey Random bytes of this process, so that the hash of a secret is useless outside the process. */
  constructor(kind: K, meta: ObjectMeta, spec: FactSpecs[K], origin: Origin, digestKey: Uint8Array) {
    this.kind = kind;
    this.key = `${kind}/${meta.namespace}/${meta.name}`;
    this.meta = meta;
    this.spec = spec;
    this.origin = origin;
    this.#digestKey = digestKey;
  }

  get hash(): string {
    return this.#hash ??= hashFact(this, this.#digestKey);
  }

  /** The same fact some lines further down in its file. */
  moved(by: number): HashedFact<K> {
    return new HashedFact(this.kind, this.meta, this.spec, movedOrigin(this.origin, by), this.#digestKey);
  }

  /** The same fact in a document of another file. */
  inFile(file: string, line: number): HashedFact<K> {
    return new HashedFact(this.kind, this.meta, this.spec, originInFile(this.origin, file, line), this.#digestKey);
  }
}

function hashFact({ kind, meta, spec }: Fact, digestKey: Uint8Array): string {
  const digest = createHmac("sha256", digestKey);
  const { namespace, name, labels, annotations, creationTimestamp } = meta;
  digest.update(JSON.stringify([kind, namespace, name, creationTimestamp, sorted(labels), sorted(annotations)]));
  digest.update(JSON.stringify(spec, (_key, value) => (value instanceof Uint8Array ? value.toBase64() : value)));
  if (kind === "Secret") {
    for (const [key, secret] of sorted((spec as FactSpecs["Secret"]).data)) {
      digest.update(`${JSON.stringify(key)} ${secret.length} `).update(secret.reveal());
    }
  }
  return digest.digest("base64url").slice(0, 22);
}

function sorted<T>(map: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
}
