/**
 * Names and versions of resources in the byte form of clients' reports, to find reported resources without decoding
 * text. When many clients reconnect, reports number in the millions.
 *
 * A report is the field `initial_resource_versions` of a request (number 5), with a map entry per resource: name = 1,
 * version = 2. The version is a hash of the content, so the last bytes of an entry serve as its hash. Then all bytes
 * are compared.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { EncodedResource } from "./encoded.ts";
import { fieldSize, putFieldHead, putTextField, textFieldSize } from "./protowire.ts";

/** Number of final bytes of an entry that make its hash. */
const HASHED = 8;

/** Number of the reported field. */
const REPORTED = 5;

/** Number of entries compared at once. A comparison by the runtime costs as much as comparing ten entries here. */
const AT_ONCE = 64;

/** The entries of a list of resources. */
export class VersionTable {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** The end of each entry in the bytes. The first entry begins at 0. */
  readonly #ends: Uint32Array;
  /** Places in the list plus 1, by hash, with linear probing. 0: free. At least twice as many slots as entries. */
  readonly #slots: Int32Array;

  constructor(resources: readonly EncodedResource[]) {
    const bytes = new Uint8Array(resources.reduce((size, one) => size + entrySize(one.name, one.version), 0));
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
    this.#ends = new Uint32Array(resources.length);
    let slots = 4;
    while (slots < 2 * resources.length) slots *= 2;
    this.#slots = new Int32Array(slots);
    let at = 0;
    for (const [place, { name, version }] of resources.entries()) {
      this.#ends[place] = at = putEntry(bytes, at, name, version);
      this.#insert(place);
    }
  }

  #insert(place: number): void {
    const mask = this.#slots.length - 1;
    let slot = hashEnd(this.#view, this.#ends[place]!) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = place + 1;
  }

  /**
   * The place in the list of the resource with name and version of the field in `data[from, to)`. -1 without such a
   * resource, or if the field is written in another way than by protobuf encoders.
   */
  find(data: DataView, from: number, to: number): number {
    if (to - from < HASHED) return -1;
    const mask = this.#slots.length - 1;
    for (let slot = hashEnd(data, to) & mask;; slot = (slot + 1) & mask) {
      const place = this.#slots[slot]! - 1;
      if (place < 0 || this.#is(place, data, from, to)) return place;
    }
  }

  /** The same for an entry given as text. */
  findText(name: string, version: string): number {
    const bytes = new Uint8Array(entrySize(name, version));
    putEntry(bytes, 0, name, version);
    return this.find(new DataView(bytes.buffer), 0, bytes.length);
  }

  /**
   * Checks whether the report has, from `from` on, exactly the next {@linkcode AT_ONCE} entries of the list (or the
   * remaining entries), in order, as sent by a client that got these resources in one response. Returns the end in the
   * report, or -1.
   */
  endOfRun(place: number, report: Uint8Array, from: number): number {
    const begin = this.#begin(place);
    const end = this.#ends[this.runEnd(place) - 1]!;
    const to = from + end - begin;
    if (to > report.length) return -1;
    return Buffer.compare(this.#bytes.subarray(begin, end), report.subarray(from, to)) === 0 ? to : -1;
  }

  /** The place after the entries that {@linkcode VersionTable.endOfRun} compares. */
  runEnd(place: number): number {
    return Math.min(place + AT_ONCE, this.#ends.length);
  }

  #begin(place: number): number {
    return place === 0 ? 0 : this.#ends[place - 1]!;
  }

  /** Compares four bytes at a time. Comparing single bytes was a tenth of the cost of a reconnecting client. */
  #is(place: number, data: DataView, from: number, to: number): boolean {
    const bytes = this.#view;
    let at = this.#begin(place);
    if (this.#ends[place]! - at !== to - from) return false;
    for (; from + 4 <= to; at += 4, from += 4) if (bytes.getInt32(at) !== data.getInt32(from)) return false;
    for (; from < to; at++, from++) if (bytes.getUint8(at) !== data.getUint8(from)) return false;
    return true;
  }
}

/** Size of a reported field in the form of protobuf encoders. */
function entrySize(name: string, version: string): number {
  return fieldSize(textFieldSize(name) + textFieldSize(version));
}

/** Writes a reported field. Returns the offset after the field. */
function putEntry(out: Uint8Array, at: number, name: string, version: string): number {
  at = putFieldHead(out, at, REPORTED, textFieldSize(name) + textFieldSize(version));
  return putTextField(out, putTextField(out, at, 1, name), 2, version);
}

/** Hash of the bytes before `end`. */
function hashEnd(data: DataView, end: number): number {
  const hash = Math.imul(data.getInt32(end - 4), 0x9e3779b1) ^ Math.imul(data.getInt32(end - 8), 0x85ebca6b);
  return hash ^ hash >>> 15;
}
