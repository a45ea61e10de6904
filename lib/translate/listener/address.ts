/**
 * Where listeners listen: addresses by IP family, names, CIDR ranges.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { envoy } from "../../../proto/gen/types.ts";
import { wrap } from "../../pb/wellknown.ts";
import { isIp, isUnixSocket } from "../../registry/address.ts";
import type { Reader } from "../reader/reader.ts";
import { ipMode } from "../service/ip_mode.ts";

/** All-addresses binds of the proxy, main family first; the second family only when the mesh is dual stack. */
export function wildcards(read: Reader): readonly string[] {
  return byMode(read, "0.0.0.0", "::");
}

/** Loopback binds of the proxy, main family first; the second family only when the mesh is dual stack. */
export function localhosts(read: Reader): readonly string[] {
  return byMode(read, "127.0.0.1", "::1");
}

function byMode(read: Reader, v4: string, v6: string): readonly string[] {
  const mode = ipMode(read);
  if (mode === "ipv6") return [v6];
  return mode === "dual" && read.settings.dualStack ? [v4, v6] : [v4];
}

/** Name of a listener: `bind_port`; a Unix socket has port 0. */
export function listenerName(bind: string, port: number): string {
  return `${bind}_${port}`;
}

/** The address of a bind: an IP with port, or a Unix socket (`unix:///path`, `unix://@name`). */
export function socketAddress(bind: string, port: number): envoy.config.core.v3.Address {
  if (isUnixSocket(bind)) return { pipe: { path: bind.slice("unix://".length) } };
  return { socket_address: { address: bind, port_value: port } };
}

/** `address` of the first bind, `additional_addresses` of the others. */
export function listenAddresses(
  binds: readonly string[],
  port: number,
): Pick<envoy.config.listener.v3.Listener, "address" | "additional_addresses"> {
  const [main = "", ...others] = binds;
  const additional = others.map((bind) => ({ address: socketAddress(bind, port) }));
  return {
    address: socketAddress(main, port),
    ...(additional.length > 0 ? { additional_addresses: additional } : {}),
  };
}

/** All addresses, in the spelling of {@linkcode canonicalRange}. */
export const ALL_ADDRESSES = "";

/**
 * A range in canonical spelling: `10.1.0.5/24` is `10.1.0.0/24`, and an IP is a range of one address. The range of all
 * IPv4 addresses, which needs no match, is `ALL_ADDRESSES`.
 *
 * @returns Undefined for text that is neither an IP nor a CIDR.
 */
export function canonicalRange(text: string): string | undefined {
  const range = networkRange(text);
  return range === "0.0.0.0/0" || text === "0.0.0.0" ? ALL_ADDRESSES : range;
}

/** Like {@linkcode canonicalRange}, but `0.0.0.0/0` means all addresses, and `0.0.0.0` is a single address. */
export function networkRange(text: string): string | undefined {
  const slash = text.lastIndexOf("/");
  const ip = slash < 0 ? text : text.slice(0, slash);
  if (!isIp(ip)) return undefined;
  const v6 = ip.includes(":");
  const bits = slash < 0 ? (v6 ? 128 : 32) : Number(text.slice(slash + 1));
  if (!Number.isInteger(bits) || bits < 0 || bits > (v6 ? 128 : 32)) return undefined;
  const first = v6
    ? ipaddr.IPv6.networkAddressFromCIDR(`${ip}/${bits}`).toRFC5952String()
    : ipaddr.IPv4.networkAddressFromCIDR(`${ip}/${bits}`).toString();
  return `${first}/${bits}`;
}

/** The message of a canonical range. */
export function cidrRange(range: string): envoy.config.core.v3.CidrRange {
  const slash = range.lastIndexOf("/");
  return { address_prefix: range.slice(0, slash), prefix_len: wrap(Number(range.slice(slash + 1))) };
}
