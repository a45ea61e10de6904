/**
 * Services of a folder for which an address stands in: those that are told apart by it, and have none.
 *
 * @module
 */
import type { Fact, IpFamily, ServiceData } from "../../config/facts/types.ts";
import { virtualAddress } from "../address.ts";
import type { StandIn } from "../allocation/stand_ins.ts";
import { portProtocol } from "../protocol.ts";
import type { Protocol, Service } from "../types.ts";

/** Protocols whose connections no name tells apart. `Unsupported` may turn out to be one. */
const BY_ADDRESS: ReadonlySet<Protocol> = new Set<Protocol>(["TCP", "Mongo", "MySQL", "Redis", "Unsupported"]);

/** The families of an address of which nothing tells the family. */
const EITHER: readonly IpFamily[] = ["IPv4", "IPv6"];

/** The host that a service is another name of; undefined: none. */
export function externalNameOf({ type, externalName }: ServiceData): string | undefined {
  return type === "ExternalName" && externalName ? externalName : undefined;
}

/** The virtual addresses that are written. */
export function writtenAddresses({ clusterIPs }: ServiceData): string[] {
  return clusterIPs.map(virtualAddress).filter((address) => address !== undefined);
}

/** Whether a service needs an address of its own, and only an API server would give it one. */
export function needsStandIn({ origin, spec }: Fact<"Service">): boolean {
  if (origin.from !== "file" || spec.clusterIPs.includes("None") || externalNameOf(spec) !== undefined) return false;
  const needs = spec.ports.some(({ name, port, protocol: transport, appProtocol }) =>
    BY_ADDRESS.has(portProtocol({ name, port, transport, ...(appProtocol === undefined ? {} : { appProtocol }) }))
  );
  return needs && writtenAddresses(spec).length === 0;
}

/** The addresses of a service for which one stands in. */
export function standInAddresses(
  { families }: ServiceData,
  standIn: StandIn,
): Pick<Service, "addresses" | "oneFamily"> {
  const addresses = (families ?? EITHER).map((family) => standIn[family]);
  return families === undefined ? { addresses, oneFamily: true } : { addresses };
}
