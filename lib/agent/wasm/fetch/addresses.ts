/**
 * Addresses from which no module comes: a name in configuration, or a server that redirects, must not make an agent
 * ask what only this machine can reach.
 *
 * @module
 */
import ipaddr from "ipaddr.js";

/** The origin of an address: the configuration itself, or a server's answer. */
export type NamedBy = "configuration" | "server";

/** Why an address is not asked; undefined: it may be. */
export type AddressRule = (address: string, namedBy: NamedBy) => string | undefined;

/** Addresses of clouds' metadata that are not link-local: of Alibaba Cloud, and of AWS over IPv6. */
const METADATA = new Set(["100.100.100.200", "fd00:ec2:0:0:0:0:0:254"]);

/**
 * Link-local addresses and those of clouds' metadata are never asked; loopback addresses only where configuration
 * names them.
 */
export const refusedAddress: AddressRule = (address, namedBy) => {
  if (!ipaddr.isValid(address)) return "no address";
  const ip = withoutTranslation(ipaddr.process(address));
  const range = ip.range();
  if (METADATA.has(ip.toNormalizedString())) return "the metadata of a cloud";
  if (range === "linkLocal" || range === "multicast" || range === "broadcast") return `a ${words(range)} address`;
  // Most systems take the unspecified address for themselves.
  const isOwn = range === "loopback" || range === "unspecified";
  return isOwn && namedBy === "server" ? `a ${range} address that a server named` : undefined;
};

function words(range: string): string {
  return range === "linkLocal" ? "link-local" : range;
}

/** The IPv4 address that a translator (RFC 6052, `64:ff9b::/96`) would ask. */
function withoutTranslation(ip: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  return ip.range() === "rfc6052" ? ipaddr.fromByteArray(ip.toByteArray().slice(12)) : ip;
}
