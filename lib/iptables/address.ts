/**
 * Addresses and ranges in the form of the kernel's tools.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { Ranges } from "./model/config.ts";

/**
 * Canonical ranges of a list by family: `10.1.2.3/8` becomes `10.0.0.0/8`, and a single address stays. Repetitions are
 * left out.
 * @param refuse Called for each text that is not a range.
 */
export function parseRanges(texts: readonly string[], refuse: (text: string) => void): Ranges {
  const found = { 4: new Set<string>(), 6: new Set<string>() };
  for (const text of texts) {
    const range = parseRange(text);
    if (range === undefined) refuse(text);
    else found[range.includes(":") ? 6 : 4].add(range);
  }
  return { 4: [...found[4]], 6: [...found[6]] };
}

/**
 * An IPv6 address without dotted decimals. The kernel's tools print `::1:0` as `::0.1.0.0`, and the library would take
 * this text for an IPv4 address.
 */
export function withoutDots(text: string): string {
  return text.replace(/(:)(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?=$|\/)/, (all, colon, ...rest) => {
    const [a = 0, b = 0, c = 0, d = 0] = rest.slice(0, 4).map(Number);
    if ([a, b, c, d].some((byte) => byte > 255)) return all;
    return `${colon}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
}

/** Longest text of an address with its prefix length. */
const MAX_RANGE = 50;

function parseRange(text: string): string | undefined {
  const [written = "", bitsWritten, ...more] = text.split("/");
  if (text.length > MAX_RANGE || !/^[0-9a-f:.]+$/i.test(written) || more.length > 0) return undefined;
  if (bitsWritten !== undefined && !/^\d{1,3}$/.test(bitsWritten)) return undefined;
  const address = withoutDots(written);
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return undefined;
  const parsed = ipaddr.parse(address);
  const width = parsed.kind() === "ipv4" ? 32 : 128;
  const bits = Number(bitsWritten ?? width);
  if (bits > width) return undefined;
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()) return undefined;
  const bytes = parsed.toByteArray().map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - 8 * i))) & 0xff);
  return `${toolText(bytes)}/${bits}`;
}

/** The tools print an IPv6 address in the form with an IPv4 address when only the last 32 bits are set. */
function toolText(bytes: readonly number[]): string {
  const carries = bytes.length === 16 && bytes.slice(0, 12).every((byte) => byte === 0) && bytes[12]! + bytes[13]! > 0;
  return carries ? `::${bytes.slice(12).join(".")}` : ipaddr.fromByteArray([...bytes]).toString();
}
