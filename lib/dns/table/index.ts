/**
 * A map from names to numbers. The key of a look-up is the bytes of a packet. Open addressing over typed arrays: a
 * look-up allocates nothing, and a table of any size is a handful of objects to the garbage collector.
 *
 * @module
 */
import { lower } from "../packet/name.ts";
import { HASH_START, hashStep } from "../packet/question.ts";

/** Hash of a whole wire name in lower case, equal to the hash of a question's name. */
export function hashName(wire: Uint8Array): number {
  let hash = HASH_START;
  for (let i = wire.length - 2; i >= 0; i--) hash = hashStep(hash, wire[i]!);
  return hash;
}

/** Names with their numbers. Built once, then only read. */
export class NameIndex {
  /** Entry number plus one by slot; 0: empty. */
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #hashes: Int32Array;
  /** The start of each name in {@link #names}, and the end of the last name. */
  readonly #starts: Uint32Array;
  readonly #names: Uint8Array;
  /** The number of names. */
  readonly size: number;

  /** @param names Wire names in lower case, each once. A name's number is its index. */
  constructor(names: readonly Uint8Array[]) {
    this.size = names.length;
    let slots = 8;
    while (slots < names.length * 2) slots *= 2;
    this.#mask = slots - 1;
    this.#slots = new Int32Array(slots);
    this.#hashes = new Int32Array(names.length);
    this.#starts = new Uint32Array(names.length + 1);
    this.#names = new Uint8Array(names.reduce((sum, name) => sum + name.length, 0));
    names.forEach((name, number) => this.#put(name, number));
  }

  #put(name: Uint8Array, number: number): void {
    const start = this.#starts[number]!;
    this.#names.set(name, start);
    this.#starts[number + 1] = start + name.length;
    const hash = hashName(name);
    this.#hashes[number] = hash;
    let slot = hash & this.#mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask;
    this.#slots[slot] = number + 1;
  }

  /** The number of the name in a packet from `start` to `end`, by its hash. -1: the name is unknown. */
  find(hash: number, packet: Uint8Array, start: number, end: number): number {
    for (let slot = hash & this.#mask;; slot = (slot + 1) & this.#mask) {
      const number = this.#slots[slot]! - 1;
      if (number < 0) return -1;
      if (this.#hashes[number] === hash && this.#equal(number, packet, start, end)) return number;
    }
  }

  #equal(number: number, packet: Uint8Array, start: number, end: number): boolean {
    const from = this.#starts[number]!;
    if (this.#starts[number + 1]! - from !== end - start) return false;
    for (let i = 0; i < end - start; i++) if (this.#names[from + i] !== lower(packet[start + i]!)) return false;
    return true;
  }
}
