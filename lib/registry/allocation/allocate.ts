/**
 * Virtual addresses for services without an address, so that proxies with DNS capture recognize the service of a
 * connection by the address.
 *
 * Each service has its own row of slots (double hashing over the service's key) and takes the first slot that no older
 * service holds. The result depends on the set of services alone, never on the order of their arrival: a restarted
 * server or a replica gives the same addresses, and a change moves only colliding services. If there are more services
 * than addresses, the youngest services get no address.
 *
 * While some slots are free, a change costs a short walk ({@link SlotTable}). When nearly all slots are taken, walks
 * would be as long as the range: then all services are lined up by age and seated again, once for all changes between
 * two calls of `settle`.
 *
 * Addresses written by users, or assigned by a status, are reserved: no candidate gets them.
 *
 * Ranges of automatic addresses: 240.240.0.0/16 (reserved class E) and 2001:2::/48 (RFC 5180, benchmarks).
 *
 * @module
 */
import type { ServiceKey } from "../types.ts";
import { type AddressCandidate, isOlder, SlotTable, stepOf } from "./slot_table.ts";

/** Number of slots: the greatest prime below 256 x 254, so that every row's steps reach every slot. */
export const SLOTS = 65011;

/** Share of slots above which candidates are lined up, and share below which the line ends. */
const CROWDED = 15 / 16;
const RELAXED = 7 / 8;

/** Age of reserved slots: older than every service. */
const RESERVED = -Infinity;

/** Gives addresses to services. Changes take effect with `settle`. */
export class AddressAllocator {
  readonly #slots: number;
  readonly #candidates = new Map<ServiceKey, AddressCandidate>();
  #arrived: AddressCandidate[] = [];
  #left: AddressCandidate[] = [];
  #table: SlotTable;
  /** All candidates by age, while nearly all slots are taken. */
  #line: AddressCandidate[] | undefined;
  #steps = 0;

  /** @param slots How many addresses there are; a prime. */
  constructor(slots: number = SLOTS) {
    this.#slots = slots;
    this.#table = new SlotTable(slots);
  }

  /** The number of addresses. */
  get capacity(): number {
    return this.#slots;
  }

  /** The number of services that want an address, plus the number of reserved addresses. */
  get size(): number {
    return this.#candidates.size;
  }

  /** Looked-at slots and comparisons of ages so far: the cost of allocation. */
  get steps(): number {
    return this.#steps + this.#table.steps;
  }

  /** A service wants an address. A known service may have a new age. */
  add(key: ServiceKey, createdAt: number): void {
    const known = this.#candidates.get(key);
    if (known?.createdAt === createdAt) return;
    if (known !== undefined) this.#leave(known);
    const fresh = { key, createdAt, hash: fnv32a(key), slot: undefined, attempt: 0, gone: false };
    const candidate = { ...fresh, reported: known?.reported };
    this.#candidates.set(key, candidate);
    this.#arrived.push(candidate);
  }

  /** Reserves the slot of an address that is in use already. */
  reserve(slot: number): void {
    const key = reservationKey(slot);
    if (slot >= this.#slots || this.#candidates.has(key)) return;
    // The row begins with this slot, and no candidate is older.
    const reservation = { key, createdAt: RESERVED, hash: slot, slot: undefined, attempt: 0, gone: false };
    this.#candidates.set(key, { ...reservation, reported: undefined });
    this.#arrived.push(this.#candidates.get(key)!);
  }

  /** The address of a slot may be given again. */
  release(slot: number): void {
    this.remove(reservationKey(slot));
  }

  /** A service no longer wants an address; unknown services have no effect. */
  remove(key: ServiceKey): void {
    const known = this.#candidates.get(key);
    if (known === undefined) return;
    this.#candidates.delete(key);
    this.#leave(known);
  }

  /** Brings addresses up to date. Returns the services whose address changed since the last call. */
  settle(): Set<ServiceKey> {
    const changed = new Set<ServiceKey>();
    if (this.#arrived.length === 0 && this.#left.length === 0) return changed;
    const share = this.#candidates.size / this.#slots;
    const moved = share > (this.#line ? RELAXED : CROWDED) ? this.#lineUp() : this.#seat();
    this.#arrived = [];
    this.#left = [];
    for (const candidate of moved) {
      if (candidate.gone || candidate.slot === candidate.reported) continue;
      candidate.reported = candidate.slot;
      if (candidate.createdAt !== RESERVED) changed.add(candidate.key);
    }
    return changed;
  }

  /** The automatic addresses of a service, IPv4 first; empty: not wanted, or none free. */
  addresses(key: ServiceKey): readonly string[] {
    const slot = this.slot(key);
    return slot === undefined ? [] : addressesOfSlot(slot);
  }

  /** The slot of a service, for addresses of another range; undefined: not wanted, or none free. */
  slot(key: ServiceKey): number | undefined {
    return this.#candidates.get(key)?.slot;
  }

  #leave(candidate: AddressCandidate): void {
    candidate.gone = true;
    this.#left.push(candidate);
  }

  /** Gives new candidates their slots, after the slots of departed candidates are free. */
  #seat(): Iterable<AddressCandidate> {
    const moved = new Set<AddressCandidate>();
    if (this.#line !== undefined) {
      this.#line = undefined;
      for (const candidate of this.#candidates.values()) this.#table.seat(candidate, moved);
      return moved;
    }
    for (const candidate of this.#left) if (candidate.slot !== undefined) this.#table.unseat(candidate, moved);
    for (const candidate of this.#arrived) if (!candidate.gone) this.#table.seat(candidate, moved);
    return moved;
  }

  /** Seats all from the oldest to the youngest. */
  #lineUp(): Iterable<AddressCandidate> {
    this.#line = this.#lined();
    const taken = new Uint8Array(this.#slots);
    let free = this.#slots;
    for (const candidate of this.#line) {
      candidate.slot = undefined;
      if (free === 0) continue;
      const step = stepOf(candidate.hash, this.#slots);
      let slot = candidate.hash % this.#slots;
      for (this.#steps++; taken[slot] === 1; this.#steps++) slot = (slot + step) % this.#slots;
      taken[slot] = 1;
      candidate.slot = slot;
      free--;
    }
    return this.#line;
  }

  /** All candidates by age: the earlier list merged with the new candidates. */
  #lined(): AddressCandidate[] {
    const byAge = (a: AddressCandidate, b: AddressCandidate) => (this.#steps++, isOlder(a, b) ? -1 : 1);
    if (this.#line === undefined) {
      this.#steps += this.#table.steps;
      this.#table = new SlotTable(this.#slots);
      return [...this.#candidates.values()].sort(byAge);
    }
    const arrived = this.#arrived.filter(({ gone }) => !gone).sort(byAge);
    const line: AddressCandidate[] = [];
    let next = 0;
    for (const candidate of this.#line) {
      if (candidate.gone) continue;
      while (next < arrived.length && byAge(arrived[next]!, candidate) < 0) line.push(arrived[next++]!);
      line.push(candidate);
    }
    return line.concat(arrived.slice(next));
  }
}

/** The addresses of a slot, IPv4 first. */
export function addressesOfSlot(slot: number): readonly string[] {
  // The last byte runs from 1 to 254: no network or broadcast address.
  const [third, fourth] = [Math.floor(slot / 254), slot % 254 + 1];
  return [`240.240.${third}.${fourth}`, `2001:2::f0f0:${(third * 256 + fourth).toString(16)}`];
}

/**
 * The slot of an address in one of the two ranges.
 *
 * @param address In the one spelling of `canonicalIp`.
 * @returns Undefined: no slot has the address.
 */
export function slotOfAddress(address: string): number | undefined {
  const [, third, fourth] = /^240\.240\.(\d+)\.(\d+)$/.exec(address) ?? [];
  const [, low] = /^2001:2::f0f0:([0-9a-f]{1,4})$/.exec(address) ?? [];
  const number = low === undefined ? Number(third) * 256 + Number(fourth) : parseInt(low, 16);
  const [high, last] = [Math.floor(number / 256), number % 256];
  return last >= 1 && last <= 254 ? high * 254 + last - 1 : undefined;
}

function reservationKey(slot: number): ServiceKey {
  return `#/${slot}`;
}

/** FNV-1a, 32 bits, over the UTF-16 units (hosts and namespaces are ASCII). */
function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
