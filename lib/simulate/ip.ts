/**
 * IP addresses and ranges as Envoy compares them.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { envoy } from "../../proto/gen/types.ts";

/** The parsed address; undefined: the text is not an IP address. */
export function ipOf(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return ipaddr.isValid(text) ? ipaddr.parse(text) : undefined;
}

/** Whether two texts are the same address. */
export function sameIp(a: string, b: string): boolean {
  if (a === b) return true;
  const [left, right] = [ipOf(a), ipOf(b)];
  return left !== undefined && right !== undefined && left.toNormalizedString() === right.toNormalizedString();
}

/** Whether a text is a loopback address. */
export function isLoopback(text: string): boolean {
  return ipOf(text)?.range() === "loopback";
}

/** Length of the longest range around the address; undefined: no range holds the address. */
export function longestRange(
  ranges: readonly envoy.config.core.v3.CidrRange[],
  address: string,
): number | undefined {
  const ip = ipOf(address);
  let longest: number | undefined;
  for (const range of ranges) {
    const prefix = ipOf(range.address_prefix ?? "");
    const length = range.prefix_len?.value ?? 0;
    if (!ip || !prefix || ip.kind() !== prefix.kind()) continue;
    if (!sharesPrefix(ip.toByteArray(), prefix.toByteArray(), length)) continue;
    if (longest === undefined || length > longest) longest = length;
  }
  return longest;
}

/** Whether the first bits of two addresses of the same length are equal. */
export function sharesPrefix(a: ArrayLike<number>, b: ArrayLike<number>, length: number): boolean {
  for (let i = 0, left = length; left > 0; i++, left -= 8) {
    const mask = left >= 8 ? 0xff : (0xff << (8 - left)) & 0xff;
    if ((a[i]! & mask) !== (b[i]! & mask)) return false;
  }
  return true;
}
