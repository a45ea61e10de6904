/**
 * The addresses of services without an address of their own: assigned by a status, or else allocated.
 *
 *     status of a service entry ──> holds it, unless a user wrote it or an older service has it ──┐
 *     others ──> allocation, which passes over written and assigned addresses ────────────────────┴─> addresses
 *
 * The set of entries alone decides, so every replica has the same result, and the replica that writes a status writes
 * the addresses in use already.
 *
 * @module
 */
import { SmallMultimap } from "../small_multimap.ts";
import type { ServiceKey } from "../types.ts";
import { AddressAllocator, addressesOfSlot, slotOfAddress } from "../allocation/allocate.ts";

/** A service with addresses assigned by a status. */
interface AssignedAddresses {
  readonly key: ServiceKey;
  readonly createdAt: number;
  readonly addresses: readonly string[];
}

/** Changes take effect with `settle`. */
export class ServiceAddresses {
  readonly #allocator = new AddressAllocator();
  /** The number of users' entries with an address, by address. */
  readonly #written = new Map<string, number>();
  readonly #assignees = new SmallMultimap<string, AssignedAddresses>();
  readonly #assignments = new Map<ServiceKey, AssignedAddresses>();
  /** Services that want an address, with the services' age. */
  readonly #wanting = new Map<ServiceKey, number>();
  /** Services with their assigned addresses in force. */
  readonly #granted = new Map<ServiceKey, readonly string[]>();
  #touched = new Set<ServiceKey>();

  /** The number of services that want an automatic address, plus the taken addresses, and the number of addresses. */
  get counts(): { readonly wanted: number; readonly available: number } {
    return { wanted: this.#allocator.size, available: this.#allocator.capacity };
  }

  /** Addresses of a user's entry; addresses of a network (`10.0.0.0/8`) are passed over. */
  write(addresses: readonly string[]): void {
    for (const address of addresses) {
      if (address.includes("/")) continue;
      this.#written.set(address, (this.#written.get(address) ?? 0) + 1);
      this.#reserve(address);
    }
    this.#touchHolders(addresses);
  }

  /** A user's entry no longer has these addresses. */
  unwrite(addresses: readonly string[]): void {
    this.#touchHolders(addresses);
    for (const address of addresses) {
      if (address.includes("/")) continue;
      const others = (this.#written.get(address) ?? 1) - 1;
      if (others > 0) this.#written.set(address, others);
      else this.#written.delete(address);
      this.#release(address);
    }
  }

  /**
   * A service wants an address, for the first time or with another age or assignment.
   *
   * @param assigned The addresses assigned by a status; undefined: none.
   */
  want(key: ServiceKey, createdAt: number, assigned: readonly string[] | undefined): void {
    this.#wanting.set(key, createdAt);
    this.#touched.add(key);
    this.#assign(key, assigned === undefined ? undefined : { key, createdAt, addresses: assigned });
  }

  /** A service no longer wants an address; unknown services have no effect. */
  unwant(key: ServiceKey): void {
    if (!this.#wanting.delete(key)) return;
    this.#touched.add(key);
    this.#assign(key, undefined);
  }

  /** Brings addresses up to date. Returns the services whose address may have changed since the last call. */
  settle(): Set<ServiceKey> {
    const changed = this.#touched;
    this.#touched = new Set();
    for (const key of changed) {
      const createdAt = this.#wanting.get(key);
      const assigned = this.#assignments.get(key);
      const holds = assigned !== undefined && assigned.addresses.every((address) => this.#holder(address) === assigned);
      if (holds) this.#granted.set(key, assigned.addresses);
      else this.#granted.delete(key);
      if (createdAt === undefined || holds) this.#allocator.remove(key);
      else this.#allocator.add(key, createdAt);
    }
    for (const key of this.#allocator.settle()) changed.add(key);
    return changed;
  }

  /** The addresses of a service, IPv4 first; empty: not wanted, or none free. */
  addresses(key: ServiceKey): readonly string[] {
    return this.#granted.get(key) ?? this.#allocator.addresses(key);
  }

  #assign(key: ServiceKey, assigned: AssignedAddresses | undefined): void {
    const old = this.#assignments.get(key);
    if (old !== undefined) {
      this.#touchHolders(old.addresses);
      this.#assignments.delete(key);
      for (const address of old.addresses) {
        this.#assignees.delete(address, old);
        this.#release(address);
      }
    }
    if (assigned === undefined) return;
    this.#assignments.set(key, assigned);
    for (const address of assigned.addresses) {
      this.#assignees.add(address, assigned);
      this.#reserve(address);
    }
    this.#touchHolders(assigned.addresses);
  }

  #touchHolders(addresses: readonly string[]): void {
    for (const address of addresses) for (const { key } of this.#assignees.get(address)) this.#touched.add(key);
  }

  /** The assignment that gets an address: the oldest, then the assignment with the first key. */
  #holder(address: string): AssignedAddresses | undefined {
    if (this.#written.has(address)) return undefined;
    let holder: AssignedAddresses | undefined;
    for (const assigned of this.#assignees.get(address)) {
      if (holder === undefined || isBefore(assigned, holder)) holder = assigned;
    }
    return holder;
  }

  #isTaken(address: string): boolean {
    return this.#written.has(address) || this.#assignees.get(address).length > 0;
  }

  #reserve(address: string): void {
    const slot = slotOfAddress(address);
    if (slot !== undefined) this.#allocator.reserve(slot);
  }

  /** Frees the slot of an address, unless one of the slot's addresses is still taken. */
  #release(address: string): void {
    const slot = slotOfAddress(address);
    if (slot === undefined || addressesOfSlot(slot).some((one) => this.#isTaken(one))) return;
    this.#allocator.release(slot);
  }
}

function isBefore(a: AssignedAddresses, b: AssignedAddresses): boolean {
  return a.createdAt !== b.createdAt ? a.createdAt < b.createdAt : a.key < b.key;
}
