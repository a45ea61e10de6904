/**
 * Addresses as registries compare them: a single spelling for each IP.
 *
 * @module
 */
import ipaddr from "ipaddr.js";

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/**
 * Whether a text is an IP address (not a CIDR, not a name). An address with a zone (`fe80::1%eth0`) does not count: an
 * interface belongs to a single machine, and an Envoy on a machine without the interface refuses the whole resource.
 */
export function isIp(address: string): boolean {
  return IPV4.test(address) || (address.includes(":") && !address.includes("%") && ipaddr.IPv6.isValid(address));
}

/** Whether an address names a Unix domain socket (`unix:///path`, or `unix://@name`). */
export function isUnixSocket(address: string): boolean {
  return address.startsWith("unix://");
}

/** The address in the spelling of the indexes: IPv6 short and lower case; everything else unchanged. */
export function canonicalIp(address: string): string {
  if (!address.includes(":") || !ipaddr.IPv6.isValid(address)) return address;
  return ipaddr.IPv6.parse(address).toRFC5952String();
}

/**
 * The address of a service that a client dials: an address of the client's own family, if there is one.
 *
 * @param client The client's own address; undefined: not known.
 */
export function dialledAddress(addresses: readonly string[], client: string | undefined): string | undefined {
  const isIpv6 = client?.includes(":") === true;
  const all = addresses.filter(isIp);
  return all.find((address) => address.includes(":") === isIpv6) ?? all[0];
}

/** Ranges for the local machine, for its link, or for many receivers at once. */
const SHARED_RANGES: ReadonlySet<string> = new Set(["unspecified", "loopback", "linkLocal", "multicast", "broadcast"]);

/** Whether an IP address can be the address of a service on any machine. Addresses of some ranges cannot. */
export function canBeService(ip: string): boolean {
  return isIp(ip) && !SHARED_RANGES.has(ipaddr.process(ip).range());
}

/**
 * A service's virtual address for translation: an IP, or a CIDR of more than one address.
 *
 * @returns Undefined: neither.
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
