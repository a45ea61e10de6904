/**
 * Addresses that stand in for those that an API server gives to services, and that manifests of a folder do not have.
 *
 * Connections of TCP are told apart by the address that is dialled alone. Two services without one on the same port would
 * be one listener, and whatever is sent to the younger one would reach the older one. The address follows from the name
 * of the service, so that it is the same on every server, after every start and in every command.
 *
 * @module
 */
import type { Protocol, ServicePort } from "../types.ts";

/** First byte of the addresses: of those that are reserved, without the network of automatic addresses (240.240). */
const FIRST = 241;
/** Bytes that may be the first, and addresses in all. */
const NETWORKS = 14;
const ADDRESSES = NETWORKS * 2 ** 24;

/** Protocols whose connections no name tells apart. `Unsupported` may turn out to be one. */
const BY_ADDRESS: ReadonlySet<Protocol> = new Set<Protocol>(["TCP", "Mongo", "MySQL", "Redis", "Unsupported"]);

/** Whether a service needs an address of its own. */
export function needsAddress(ports: readonly ServicePort[]): boolean {
  return ports.some(({ protocol }) => BY_ADDRESS.has(protocol));
}

/** The address of a service. Of 1,000 services two have the same one in one of 400 meshes. @param id `namespace/name` */
export function standInAddress(id: string): string {
  const place = hashOf(id) % ADDRESSES;
  // No address ends in 0 or 255, which some programs refuse.
  const last = 1 + (place & 0xff) % 254;
  return [FIRST + (place >>> 24), (place >>> 16) & 0xff, (place >>> 8) & 0xff, last].join(".");
}

/** FNV-1a, mixed once more: similar names lie far apart. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
