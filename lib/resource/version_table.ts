/**
 * Names and versions of some resources as the bytes in which a client reports them, to find a reported one without
 * making text of it: a storm of clients that reconnect reports millions.
 *
 * An entry of `initial_resource_versions` is a map entry, name = 1 and version = 2. The version is a hash of the
 * content, so its last bytes serve as the hash of the entry; all bytes are then compared.
 *
 * @module
 */
import type { EncodedResource } from "./encoded.ts";
import { fieldSize, putField, utf8Bytes } from "./protowire.ts";

/** Bytes at the end of an entry from which its hash is made. */
const HASHED = 8;

/** The entries of a list of resources. */
export class VersionTable {
  readonly #bytes: Uint8Array;
  /** Where each entry ends in the bytes; the first begins at 0. */
  readonly #ends: Uint32Array;
  /** Places in the list plus 1, by hash, with linear probing; 0: free. Twice as many as entries at least. */
  readonly #slots: Int32Array;

  constructor(resources: readonly EncodedResource[]) {
    const entries = resources.map(({ name, version }) => entryBytes(name, version));
    this.#bytes = new Uint8Array(entries.reduce((size, { length }) => size + length, 0));
    this.#ends = new Uint32Array(entries.length);
    let slots = 4;
    while (slots < 2 * entries.length) slots *= 2;
    this.#slots = new Int32Array(slots);
    let at = 0;
    for (const [place, entry] of entries.entries()) {
      this.#bytes.set(entry, at);
      this.#ends[place] = at += entry.length;
      this.#insert(place);
    }
  }

  #insert(place: number): void {
    const mask = this.#slots.length - 1;
    let slot = hashEnd(this.#bytes, this.#ends[place]!) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = place + 1;
  }

  /**
   * The place in the list of the resource with the name and version of the entry in `data[from, to)`; -1 when
   * there is none, or the entry is written in another way than protobuf encoders do.
   */
  find(data: Uint8Array, from: number, to: number): number {
    if (to - from < HASHED) return -1;
    const mask = this.#slots.length - 1;
    for (let slot = hashEnd(data, to) & mask;; slot = (slot + 1) & mask) {
      const place = this.#slots[slot]! - 1;
      if (place < 0 || this.#is(place, data, from, to)) return place;
    }
  }

  /** The same, of an entry given as text. */
  findText(name: string, version: string): number {
    const bytes = entryBytes(name, version);
    return this.find(bytes, 0, bytes.length);
  }

  #is(place: number, data: Uint8Array, from: number, to: number): boolean {
    const bytes = this.#bytes;
    let at = place === 0 ? 0 : this.#ends[place - 1]!;
    if (this.#ends[place]! - at !== to - from) return false;
    while (from < to) if (bytes[at++] !== data[from++]) return false;
    return true;
  }
}

/** An entry's content as protobuf encoders write it. */
function entryBytes(name: string, version: string): Uint8Array {
  const [first, second] = [utf8Bytes(name), utf8Bytes(version)];
  const bytes = new Uint8Array(fieldSize(first.length) + fieldSize(second.length));
  putField(bytes, putField(bytes, 0, 1, first), 2, second);
  return bytes;
}

/** Hash of the bytes before `end`. */
function hashEnd(data: Uint8Array, end: number): number {
  const low = data[end - 4]! | data[end - 3]! << 8 | data[end - 2]! << 16 | data[end - 1]! << 24;
  const high = data[end - 8]! | data[end - 7]! << 8 | data[end - 6]! << 16 | data[end - 5]! << 24;
  const hash = Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca6b);
  return hash ^ hash >>> 15;
}
