/**
 * Which network an address is in, as the mesh networks configuration says.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { MeshNetworks } from "../config/mesh/types.ts";

/**
 * Makes the lookup for addresses of one cluster.
 *
 * @returns A function from an IP address to its network: the first whose CIDR range has it, else the one that names the
 * cluster's registry, else empty. Names (DNS endpoints) are in the cluster's network.
 */
export function networkLookup(networks: MeshNetworks, clusterId: string): (address: string) => string {
  const ranges: { readonly name: string; readonly range: [ipaddr.IPv4 | ipaddr.IPv6, number] }[] = [];
  let ofCluster = "";
  for (const [name, network] of Object.entries(networks.networks)) {
    for (const { fromCidr, fromRegistry } of network.endpoints) {
      if (fromCidr !== undefined) ranges.push({ name, range: ipaddr.parseCIDR(fromCidr) });
      if (fromRegistry === clusterId && ofCluster === "") ofCluster = name;
    }
  }
  if (ranges.length === 0) return () => ofCluster;
  return (address) => {
    if (!ipaddr.isValid(address)) return ofCluster;
    const ip = ipaddr.process(address);
    return ranges.find(({ range }) => range[0].kind() === ip.kind() && ip.match(range))?.name ?? ofCluster;
  };
}
