/**
 * Ranges of addresses, and whether a range holds a peer's address.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { Peer } from "../sockets/transport/peer.ts";
import { commaList } from "../kernel/text/comma_list.ts";

/** The first address of a range, and the length of the prefix. */
export type AddressRange = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Reads ranges such as `10.0.0.0/8, fd00::/8`.
 *
 * @throws TypeError that names each invalid part
 */
export function parseRanges(text: string): AddressRange[] {
  const parts = commaList(text);
  const wrong = parts.filter((part) => !isRange(part));
  if (wrong.length > 0) {
    const got = wrong.map((part) => JSON.stringify(part)).join(", ");
    throw new TypeError(`got ${got}, expected ranges of addresses such as 10.0.0.0/8, comma separated`);
  }
  return parts.map((part) => ipaddr.parseCIDR(part));
}

/**
 * Whether a text is a range in the only spelling that all readers understand alike. Short, octal and hexadecimal forms
 * (`10/8`, `010.0.0.0/8`) mean another network to some readers, and a zone (`fe80::1%eth0/64`) has a meaning on one
 * machine only.
 */
function isRange(text: string): boolean {
  const [, address = "", bits = ""] = /^([0-9A-Fa-f:.]{2,45})\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  if (address.includes(":")) return ipaddr.IPv6.isValid(address) && Number(bits) <= 128;
  return ipaddr.IPv4.isValidFourPartDecimal(address) && Number(bits) <= 32;
}

/** Whether a connection comes from one of the ranges, or from this machine. A Unix socket has no address. */
export function isFrom({ address }: Peer, ranges: readonly AddressRange[]): boolean {
  const host = address.slice(0, Math.max(0, address.lastIndexOf(":")));
  const isAddress = host.includes(":") ? ipaddr.IPv6.isValid(host) : ipaddr.IPv4.isValidFourPartDecimal(host);
  if (!isAddress) return false;
  const at = ipaddr.process(host);
  return at.range() === "loopback" || ranges.some((range) => at.kind() === range[0].kind() && at.match([...range]));
}
