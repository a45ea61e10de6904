/**
 * Stand-in addresses for services in manifests of a folder. Such services lack the addresses that an API server
 * allocates.
 *
 * Only the dialled address distinguishes TCP connections. Two services without an address on the same port would share
 * a listener, and connections to the younger service would reach the older service. So each service gets its own
 * address. No other service, no written address of a service or a service entry and no endpoint has the same address.
 *
 * The address follows from the names of the services and from the taken addresses alone, so every server, every start
 * and every command gives the same address. An added or removed service moves another service only if both would have
 * the same address: with 1,000 services this is one change of 200,000.
 *
 * Ranges: 241.0.0.0 to 254.255.255.255 (reserved class E, without the network of automatic addresses, 240.240.0.0/16),
 * and 2001:2::1:0:0/96 (RFC 5180, benchmarks), where the IPv4 address is the end of the IPv6 address.
 *
 * @module
 */
import { canonicalIp, isIp } from "../address.ts";
import type { ServiceKey } from "../types.ts";
import { AddressAllocator } from "./allocate.ts";

/** First byte of the first address, and first byte behind the last address. */
const [FIRST, BEHIND] = [241, 255];
/** The greatest prime below the number of addresses: 14 first bytes, two free bytes, and last bytes from 1 to 254. */
export const STAND_IN_SLOTS = 233_045_999;
const IPV6_START = "2001:2::1:";

/** A service's address of each family. */
export interface StandIn {
  readonly IPv4: string;
  readonly IPv6: string;
}

/** Called with the services (`namespace/name`) whose address changed. */
export type MovedListener = (services: ReadonlySet<string>) => void;

/** Changes take effect with `settle`. A change costs a short walk, however many services exist. */
export class StandInAddresses {
  readonly #allocator: AddressAllocator;
  readonly #slots: number;
  /** How often each slot is taken. */
  readonly #taken = new Map<number, number>();
  readonly #listeners = new Set<MovedListener>();

  /** @param slots How many addresses there are; a prime. Fewer than there can be are for tests. */
  constructor(slots: number = STAND_IN_SLOTS) {
    this.#slots = slots;
    this.#allocator = new AddressAllocator(slots);
  }

  /** Looked-at slots so far: the cost of allocation. */
  get steps(): number {
    return this.#allocator.steps;
  }

  /** A service wants an address. @param id `namespace/name` */
  want(id: string): void {
    // No age: a manifest does not have one.
    this.#allocator.add(keyOf(id), 0);
  }

  /** A service wants no address any more. */
  unwant(id: string): void {
    this.#allocator.remove(keyOf(id));
  }

  /** Marks addresses as in use, so that no service gets them as stand-ins. Addresses of a network are passed over. */
  take(addresses: readonly string[]): void {
    for (const slot of this.#slotsOf(addresses)) {
      const count = this.#taken.get(slot) ?? 0;
      this.#taken.set(slot, count + 1);
      if (count === 0) this.#allocator.reserve(slot);
    }
  }

  /** Frees addresses that were taken before. */
  giveBack(addresses: readonly string[]): void {
    for (const slot of this.#slotsOf(addresses)) {
      const count = (this.#taken.get(slot) ?? 1) - 1;
      if (count > 0) this.#taken.set(slot, count);
      else {
        this.#taken.delete(slot);
        this.#allocator.release(slot);
      }
    }
  }

  /**
   * Brings addresses up to date, and calls the listeners with the services whose address changed.
   *
   * @param known Services that the caller looks at anyway; the listeners do not get them.
   */
  settle(known?: ReadonlySet<string>): void {
    const moved = this.#allocator.settle();
    if (moved.size === 0) return;
    const others = known === undefined ? moved : moved.difference(known);
    if (others.size > 0) { for (const listener of this.#listeners) listener(others); }
  }

  /** Calls a listener when `settle` has moved services. */
  onMoved(listener: MovedListener): void {
    this.#listeners.add(listener);
  }

  /** The addresses of a service; undefined: not wanted. */
  addresses(id: string): StandIn | undefined {
    const slot = this.#allocator.slot(keyOf(id));
    return slot === undefined ? undefined : standInOfSlot(slot);
  }

  *#slotsOf(addresses: readonly string[]): Generator<number> {
    for (const address of addresses) {
      const slot = slotOfStandIn(address);
      if (slot !== undefined && slot < this.#slots) yield slot;
    }
  }
}

/** The addresses of a slot. */
export function standInOfSlot(slot: number): StandIn {
  // The last byte runs from 1 to 254: some programs refuse addresses that end in 0 or 255.
  const [rest, last] = [Math.floor(slot / 254), slot % 254 + 1];
  const [first, second, third] = [FIRST + (rest >>> 16), (rest >>> 8) & 0xff, rest & 0xff];
  const [high, low] = [first * 256 + second, third * 256 + last];
  return {
    IPv4: [first, second, third, last].join("."),
    IPv6: `${IPV6_START}${high.toString(16)}:${low.toString(16)}`,
  };
}

/** The slot of an address in one of the two ranges; undefined: no slot has the address. */
export function slotOfStandIn(address: string): number | undefined {
  // Nearly all addresses begin otherwise.
  if (!address.startsWith("2") || !isIp(address)) return undefined;
  const bytes = address.includes(":") ? bytesOfIpv6(canonicalIp(address)) : address.split(".").map(Number);
  const [first = 0, second = 0, third = 0, last = 0] = bytes;
  if (first < FIRST || first >= BEHIND || last < 1 || last > 254) return undefined;
  return (((first - FIRST) << 16) | (second << 8) | third) * 254 + last - 1;
}

function bytesOfIpv6(address: string): readonly number[] {
  if (!address.startsWith(IPV6_START)) return [];
  const parts = address.slice(IPV6_START.length).split(":").map((part) => parseInt(part, 16));
  return parts.length === 2 ? parts.flatMap((part) => [part >>> 8, part & 0xff]) : [];
}

function keyOf(id: string): ServiceKey {
  return id as ServiceKey;
}
