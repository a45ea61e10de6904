/**
 * The addresses at which clients dial a service, from the view of one proxy.
 *
 * @module
 */
import type { Service } from "../../registry/types.ts";
import type { Reader } from "../reader/reader.ts";
import { type IpMode, ipMode } from "./ip_mode.ts";

/** IPs and CIDRs of a service, main family first. Empty: none (headless, or known by name only). */
export function serviceAddresses(read: Reader, service: Service): readonly string[] {
  const reported = reportedAddresses(read, service);
  if (reported.length === 0) return reported;
  const mode = ipMode(read);
  const oneFamily = service.oneFamily && reported === service.addresses;
  if (mode === "dual") return hasBothFamilies(read) && !oneFamily ? reported : preferIpv4(reported);
  const own = reported.filter((address) => inFamily(address, mode));
  // All addresses are of the other family. A client may still have such an address from an unknown resolver.
  return own.length > 0 ? own : reported;
}

function hasBothFamilies({ settings: { dualStack, bothFamilies } }: Reader): boolean {
  return dualStack || bothFamilies;
}

/** The addresses of a service's listeners: of both families only if listeners serve both families. */
export function boundAddresses(read: Reader, service: Service): readonly string[] {
  const all = serviceAddresses(read, service);
  return ipMode(read) === "dual" && !read.settings.dualStack ? preferIpv4(all) : all;
}

/**
 * Whether an HTTP request to the address of a service is for that service, whatever its Host header says. The addresses
 * of the orchestrator's services belong to a single service each; service entries may share theirs.
 */
export function isDialledByAddress(read: Reader, service: Service): boolean {
  return read.settings.httpByAddress && service.provider === "Orch" && !service.headless &&
    service.externalName === undefined;
}

function reportedAddresses(read: Reader, service: Service): readonly string[] {
  if (service.clusterAddresses !== undefined) {
    const own = service.clusterAddresses[read.property("clusterId")];
    if (own !== undefined && own.length > 0) return own;
  }
  if (service.addresses.length > 0 || !service.autoAllocatedAddresses?.length) return service.addresses;
  // Until the server itself assigned addresses, the proxy had to opt in.
  const uses = read.settings.assignsAddresses
    ? read.property("dnsCapture")
    : read.derived("usesAutoAllocated", (t) => t.dnsCapture && t.dnsAutoAllocate);
  return uses ? service.autoAllocatedAddresses : service.addresses;
}

/** The addresses under which tunnels know a service: of the proxy's own cluster, of both families. */
export function tunnelAddresses(
  read: Reader,
  { addresses, clusterAddresses, autoAllocatedAddresses = [] }: Service,
): readonly string[] {
  const own = clusterAddresses?.[read.property("clusterId")];
  if (own !== undefined && own.length > 0) return own;
  return addresses.length > 0 ? addresses : autoAllocatedAddresses;
}

function preferIpv4(addresses: readonly string[]): readonly string[] {
  const v4 = addresses.filter((address) => inFamily(address, "ipv4"));
  return v4.length > 0 ? v4 : addresses;
}

function inFamily(address: string, mode: IpMode): boolean {
  return address.includes(":") === (mode === "ipv6");
}

/** Whether an address is a range instead of a single address. */
export function isRange(address: string): boolean {
  return address.includes("/");
}
