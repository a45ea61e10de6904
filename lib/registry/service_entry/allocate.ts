/**
 * Virtual addresses for services without one, so that proxies that capture DNS can tell their connections apart.
 *
 * Each service has its own row of slots (double hashing over its key) and takes the first that no older service wants.
 * The result depends on the set of services alone, never on the order in which they came: a restarted server or a
 * replica gives the same addresses, and a change moves only those that collide with it.
 *
 * Ranges as in the field: 240.240.0.0/16 (reserved class E) and 2001:2::/48 (RFC 5180, benchmarks).
 *
 * @module
 */
import type { ServiceKey } from "../types.ts";

/** Number of slots: the greatest prime below 256 x 254, so that every step of a row reaches every slot. */
export const SLOTS = 65011;

/** A service that wants an address. */
interface Claim {
  readonly key: ServiceKey;
  readonly createdAt: number;
  /** How far down its row it is. */
  attempt: number;
}

/** Gives addresses to services. */
export class AddressAllocator {
  readonly #claims = new Map<ServiceKey, Claim>();
  readonly #holders = new Map<number, Claim>();
  /** Who was turned away at a slot, and comes back when it becomes free. */
  readonly #rejected = new Map<number, Set<Claim>>();
  readonly #slots: number;

  /** @param slots How many addresses there are; a prime. */
  constructor(slots: number = SLOTS) {
    this.#slots = slots;
  }

  /** Gives a service an address. Returns the services whose address is now another, itself among them. */
  add(key: ServiceKey, createdAt: number): Set<ServiceKey> {
    const known = this.#claims.get(key);
    if (known?.createdAt === createdAt) return new Set();
    const changed = known ? this.remove(key) : new Set<ServiceKey>();
    const claim: Claim = { key, createdAt, attempt: 0 };
    this.#claims.set(key, claim);
    this.#seek(claim, changed);
    changed.add(key);
    return changed;
  }

  /** Takes a service's address back. Returns the other services whose address is now another. */
  remove(key: ServiceKey): Set<ServiceKey> {
    const changed = new Set<ServiceKey>();
    const claim = this.#claims.get(key);
    if (claim === undefined) return changed;
    this.#claims.delete(key);
    const slot = this.#slot(claim);
    this.#forget(claim);
    if (slot !== undefined) this.#free(slot, changed);
    return changed;
  }

  /** The addresses of a service, IPv4 first; empty when it has no claim, or all are taken. */
  addresses(key: ServiceKey): readonly string[] {
    const claim = this.#claims.get(key);
    const slot = claim && this.#slot(claim);
    if (slot === undefined) return [];
    // The last byte runs from 1 to 254: no network or broadcast address.
    const [third, fourth] = [Math.floor(slot / 254), slot % 254 + 1];
    return [`240.240.${third}.${fourth}`, `2001:2::f0f0:${(third * 256 + fourth).toString(16)}`];
  }

  /** Walks a claim down its row until it holds a slot; those that it drives out walk on. */
  #seek(first: Claim, changed: Set<ServiceKey>): void {
    let claim: Claim | undefined = first;
    while (claim !== undefined && claim.attempt < this.#slots) {
      const slot = position(claim.key, claim.attempt, this.#slots);
      const holder = this.#holders.get(slot);
      if (holder === undefined) {
        this.#holders.set(slot, claim);
        claim = undefined;
      } else {
        const [winner, loser]: [Claim, Claim] = older(claim, holder) ? [claim, holder] : [holder, claim];
        this.#holders.set(slot, winner);
        this.#reject(slot, loser);
        if (loser === holder) changed.add(loser.key);
        loser.attempt++;
        claim = loser;
      }
    }
  }

  /** Offers a free slot to the oldest of those that were turned away there, whose own slot becomes free in turn. */
  #free(slot: number, changed: Set<ServiceKey>): void {
    let open: number | undefined = slot;
    while (open !== undefined) {
      this.#holders.delete(open);
      let next: Claim | undefined;
      for (const claim of this.#rejected.get(open) ?? []) if (next === undefined || older(claim, next)) next = claim;
      if (next === undefined) return;
      const left = this.#slot(next);
      this.#forget(next);
      next.attempt = 0;
      while (position(next.key, next.attempt, this.#slots) !== open) {
        this.#reject(position(next.key, next.attempt, this.#slots), next);
        next.attempt++;
      }
      this.#holders.set(open, next);
      changed.add(next.key);
      open = left;
    }
  }

  #slot(claim: Claim): number | undefined {
    return claim.attempt < this.#slots ? position(claim.key, claim.attempt, this.#slots) : undefined;
  }

  #reject(slot: number, claim: Claim): void {
    const rejected = this.#rejected.get(slot);
    if (rejected) rejected.add(claim);
    else this.#rejected.set(slot, new Set([claim]));
  }

  /** Drops the notes of where a claim was turned away. */
  #forget(claim: Claim): void {
    for (let attempt = 0; attempt < Math.min(claim.attempt, this.#slots); attempt++) {
      const slot = position(claim.key, attempt, this.#slots);
      const rejected = this.#rejected.get(slot);
      if (rejected?.delete(claim) && rejected.size === 0) this.#rejected.delete(slot);
    }
  }
}

function older(a: Claim, b: Claim): boolean {
  return a.createdAt !== b.createdAt ? a.createdAt < b.createdAt : a.key < b.key;
}

function position(key: string, attempt: number, slots: number): number {
  const hash = fnv32a(key);
  const step = slots === 1 ? 0 : 1 + hash % (slots - 1);
  return (hash + attempt * step) % slots;
}

/** FNV-1a, 32 bits, over the UTF-16 units (hosts and namespaces are ASCII). */
function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
