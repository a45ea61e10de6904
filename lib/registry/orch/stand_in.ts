/**
 * Services of a folder with stand-in addresses, because only an address distinguishes their connections.
 *
 * @module
 */
import type { Fact, IpFamily, ServiceData } from "../../config/facts/types.ts";
import { virtualAddress } from "../address.ts";
import type { StandIn } from "../allocation/stand_ins.ts";
import { portProtocol } from "../protocol.ts";
import type { Protocol, Service } from "../types.ts";

/** Protocols without a host name in their connections. `Unsupported` may turn out to be such a protocol. */
const BY_ADDRESS: ReadonlySet<Protocol> = new Set<Protocol>(["TCP", "Mongo", "MySQL", "Redis", "Unsupported"]);

/** The families of an address if the family is unknown. */
const EITHER: readonly IpFamily[] = ["IPv4", "IPv6"];

/** The external host of a service; undefined: none. */
export function externalNameOf({ type, externalName }: ServiceData): string | undefined {
  return type === "ExternalName" && externalName ? externalName : undefined;
}

/** The written virtual addresses. */
export function writtenAddresses({ clusterIPs }: ServiceData): string[] {
  return clusterIPs.map(virtualAddress).filter((address) => address !== undefined);
}

/** Whether a service needs an own address that only an API server would allocate. */
export function needsStandIn({ origin, spec }: Fact<"Service">): boolean {
  if (origin.from !== "file" || spec.clusterIPs.includes("None") || externalNameOf(spec) !== undefined) return false;
  const needs = spec.ports.some(({ name, port, protocol: transport, appProtocol }) =>
    BY_ADDRESS.has(portProtocol({ name, port, transport, ...(appProtocol === undefined ? {} : { appProtocol }) }))
  );
  return needs && writtenAddresses(spec).length === 0;
}

/** The addresses of a service with a stand-in. */
export function standInAddresses(
  { families }: ServiceData,
  standIn: StandIn,
): Pick<Service, "addresses" | "oneFamily"> {
  const addresses = (families ?? EITHER).map((family) => standIn[family]);
  return families === undefined ? { addresses, oneFamily: true } : { addresses };
}
