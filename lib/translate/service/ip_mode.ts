/**
 * The IP families of a proxy.
 *
 * @module
 */
import type { Reader } from "../reader/reader.ts";

/** IP families of a proxy. The first family is the main one. */
export type IpMode = "ipv4" | "ipv6" | "dual";

/** IP families of the proxy. */
export function ipMode(read: Reader): IpMode {
  return read.derived("ipMode", (t) => t.ipv4 ? (t.ipv6 ? "dual" : "ipv4") : "ipv6");
}
