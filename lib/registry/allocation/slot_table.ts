/**
 * The table of slots and their holders, kept up to date a candidate at a time.
 *
 * @module
 */
import type { ServiceKey } from "../types.ts";

/** A service that wants an address. */
export interface AddressCandidate {
  readonly key: ServiceKey;
  /** Creation time of the service's oldest object, ms since the epoch. */
  readonly createdAt: number;
  /** Hash of the key: decides the first slot of the row, and the step to the next slot. */
  readonly hash: number;
  /** The candidate's slot; undefined: none. */
  slot: number | undefined;
  /** The slot of the last report. */
  reported: number | undefined;
  /** The place in the row that is tried next. Older candidates hold all slots before it. */
  attempt: number;
  /** The service no longer wants an address. */
  gone: boolean;
}

/** Whether a candidate comes before another candidate: by age, then by key. */
export function isOlder(a: AddressCandidate, b: AddressCandidate): boolean {
  return a.createdAt !== b.createdAt ? a.createdAt < b.createdAt : a.key < b.key;
}

/** The slot at a place of a candidate's row. If the number of slots is a prime, every row visits each slot once. */
function slotOf(hash: number, attempt: number, slots: number): number {
  return (hash + attempt * stepOf(hash, slots)) % slots;
}

/** The distance from a slot of a row to the next slot. */
export function stepOf(hash: number, slots: number): number {
  return slots === 1 ? 0 : 1 + hash % (slots - 1);
}

/** The table of slots. The table must never be full: the fewer slots are free, the longer the walks. */
export class SlotTable {
  readonly #slots: number;
  readonly #holders = new Map<number, AddressCandidate>();
  /**
   * Candidates that an older holder keeps from a slot. The candidates come back when the slot becomes free. A single
   * candidate needs no set.
   */
  readonly #rejected = new Map<number, AddressCandidate | Set<AddressCandidate>>();
  /** The number of slots looked at so far. */
  steps = 0;

  /** @param slots The number of slots; a prime. */
  constructor(slots: number) {
    this.#slots = slots;
  }

  /**
   * Gives a candidate the first slot of its row without an older holder. A younger candidate that loses its slot takes
   * the next slot of its own row.
   */
  seat(first: AddressCandidate, moved: Set<AddressCandidate>): void {
    let candidate = first;
    candidate.attempt = 0;
    for (;;) {
      this.steps++;
      const slot = slotOf(candidate.hash, candidate.attempt, this.#slots);
      const holder = this.#holders.get(slot);
      if (holder === undefined || isOlder(candidate, holder)) this.#give(slot, candidate, moved);
      if (holder === undefined) return;
      const loser = isOlder(candidate, holder) ? holder : candidate;
      this.#reject(slot, loser);
      loser.attempt++;
      candidate = loser;
    }
  }

  /**
   * Takes a candidate's slot, and gives the slot to the oldest rejected candidate, whose own slot becomes free in turn.
   */
  unseat(candidate: AddressCandidate, moved: Set<AddressCandidate>): void {
    let open = candidate.slot;
    candidate.slot = undefined;
    this.#forget(candidate);
    while (open !== undefined) {
      this.#holders.delete(open);
      const next = this.#oldestRejected(open);
      if (next === undefined) return;
      const left = next.slot;
      this.#forget(next);
      next.attempt = 0;
      for (;;) {
        this.steps++;
        const slot = slotOf(next.hash, next.attempt, this.#slots);
        if (slot === open) break;
        this.#reject(slot, next);
        next.attempt++;
      }
      this.#give(open, next, moved);
      open = left;
    }
  }

  #give(slot: number, candidate: AddressCandidate, moved: Set<AddressCandidate>): void {
    this.#holders.set(slot, candidate);
    candidate.slot = slot;
    moved.add(candidate);
  }

  #oldestRejected(slot: number): AddressCandidate | undefined {
    const rejected = this.#rejected.get(slot);
    if (!(rejected instanceof Set)) return rejected;
    let oldest: AddressCandidate | undefined;
    for (const candidate of rejected) if (oldest === undefined || isOlder(candidate, oldest)) oldest = candidate;
    return oldest;
  }

  #reject(slot: number, candidate: AddressCandidate): void {
    const rejected = this.#rejected.get(slot);
    if (rejected === undefined) this.#rejected.set(slot, candidate);
    else if (rejected instanceof Set) rejected.add(candidate);
    else this.#rejected.set(slot, new Set([rejected, candidate]));
  }

  /** Removes a candidate from the lists of candidates that wait for a slot. */
  #forget(candidate: AddressCandidate): void {
    for (let attempt = 0; attempt < candidate.attempt; attempt++) {
      this.steps++;
      const slot = slotOf(candidate.hash, attempt, this.#slots);
      const rejected = this.#rejected.get(slot);
      if (rejected === candidate) this.#rejected.delete(slot);
      else if (rejected instanceof Set && rejected.delete(candidate) && rejected.size === 0) {
        this.#rejected.delete(slot);
      }
    }
  }
}
