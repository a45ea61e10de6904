/**
 * Addresses as registries compare them: one spelling for each IP.
 *
 * @module
 */
import ipaddr from "ipaddr.js";

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/**
 * Whether it is an IP address (not a CIDR, not a name). One with a zone (`fe80::1%eth0`) is none: interfaces are of one
 * machine, and an Envoy on a machine without that interface refuses the whole resource.
 */
export function isIp(address: string): boolean {
  return IPV4.test(address) || (address.includes(":") && !address.includes("%") && ipaddr.IPv6.isValid(address));
}

/** Whether it names a Unix domain socket (`unix:///path`, or `unix://@name`). */
export function isUnixSocket(address: string): boolean {
  return address.startsWith("unix://");
}

/** The same address in the one spelling that indexes use: IPv6 short and lower case; everything else unchanged. */
export function canonicalIp(address: string): string {
  if (!address.includes(":") || !ipaddr.IPv6.isValid(address)) return address;
  return ipaddr.IPv6.parse(address).toRFC5952String();
}

/**
 * The address of a service that a client dials: one of the client's own family, where there is one.
 *
 * @param client The client's own address; undefined: not known.
 */
export function dialledAddress(addresses: readonly string[], client: string | undefined): string | undefined {
  const isIpv6 = client?.includes(":") === true;
  const all = addresses.filter(isIp);
  return all.find((address) => address.includes(":") === isIpv6) ?? all[0];
}

/** Ranges that mean a machine itself, its link, or many at once. */
const SHARED_RANGES: ReadonlySet<string> = new Set(["unspecified", "loopback", "linkLocal", "multicast", "broadcast"]);

/** Whether an IP address can be that of one service on any machine: those of some ranges cannot. */
export function canBeService(ip: string): boolean {
  return isIp(ip) && !SHARED_RANGES.has(ipaddr.process(ip).range());
}

/**
 * A service's virtual address as translation uses it: an IP, or a CIDR of more than one address.
 *
 * @returns Undefined when it is neither.
 */
export function virtualAddress(text: string): string | undefined {
  if (isIp(text)) return canonicalIp(text);
  const slash = text.lastIndexOf("/");
  if (slash < 0 || !isIp(text.slice(0, slash))) return undefined;
  const ip = canonicalIp(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  const width = ip.includes(":") ? 128 : 32;
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > width) return undefined;
  return Number(bits) === width ? ip : `${ip}/${Number(bits)}`;
}
