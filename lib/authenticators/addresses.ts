/**
 * Ranges of addresses, and whether a connection comes from one of them.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { Peer } from "../sockets/transport/peer.ts";
import { commaList } from "../kernel/text/comma_list.ts";

/** A range: its first address and the length of its prefix. */
export type AddressRange = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Reads ranges such as `10.0.0.0/8, fd00::/8`.
 *
 * @throws TypeError that names each part that is none
 */
export function parseRanges(text: string): AddressRange[] {
  const parts = commaList(text);
  const wrong = parts.filter((part) => !ipaddr.isValidCIDR(part));
  if (wrong.length > 0) {
    const got = wrong.map((part) => JSON.stringify(part)).join(", ");
    throw new TypeError(`got ${got}, expected ranges of addresses such as 10.0.0.0/8, comma separated`);
  }
  return parts.map((part) => ipaddr.parseCIDR(part));
}

/** Whether a connection comes from one of the ranges, or from this machine. A Unix socket has no address. */
export function isFrom({ address }: Peer, ranges: readonly AddressRange[]): boolean {
  const host = address.slice(0, Math.max(0, address.lastIndexOf(":")));
  if (address.startsWith("/") || !ipaddr.isValid(host)) return false;
  const at = ipaddr.process(host);
  return at.range() === "loopback" || ranges.some((range) => at.kind() === range[0].kind() && at.match([...range]));
}
