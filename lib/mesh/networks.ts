/**
 * The networks of addresses, as the mesh networks configuration says, and the entrances of networks.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import { isSameCluster } from "../config/spelling/cluster_name.ts";
import type { MeshNetworks } from "../config/mesh/types.ts";
import { canonicalIp, isIp } from "../registry/address.ts";
import type { NetworkEntrance } from "../registry/types.ts";

/**
 * Makes the lookup for addresses of a cluster.
 *
 * @returns A function from an IP address to a network: the first network with a CIDR range for the address, else the
 * network with the cluster's registry, else empty. Names (DNS endpoints) are in the cluster's network.
 */
export function networkLookup(networks: MeshNetworks, clusterId: string): (address: string) => string {
  const ranges: { readonly name: string; readonly range: [ipaddr.IPv4 | ipaddr.IPv6, number] }[] = [];
  let ofCluster = "";
  for (const [name, network] of Object.entries(networks.networks)) {
    for (const { fromCidr, fromRegistry } of network.endpoints) {
      if (fromCidr !== undefined) ranges.push({ name, range: ipaddr.parseCIDR(fromCidr) });
      if (ofCluster === "" && fromRegistry !== undefined && isSameCluster(fromRegistry, clusterId)) ofCluster = name;
    }
  }
  if (ranges.length === 0) return () => ofCluster;
  return (address) => {
    if (!isIp(address)) return ofCluster;
    const ip = ipaddr.process(address);
    return ranges.find(({ range }) => range[0].kind() === ip.kind() && ip.match(range))?.name ?? ofCluster;
  };
}

/** The gateways of networks by service host, for networks with the cluster's registry. */
export function gatewaysByService(
  networks: MeshNetworks,
  clusterId: string,
): ReadonlyMap<string, readonly Pick<NetworkEntrance, "network" | "port">[]> {
  const named = Object.entries(networks.networks)
    .filter(([, { endpoints }]) => endpoints.some(({ fromRegistry = "" }) => isSameCluster(fromRegistry, clusterId)))
    .flatMap(([network, { gateways }]) => gateways.map((gateway) => ({ network, ...gateway })));
  const byHost = Map.groupBy(named, ({ registryServiceName }) => registryServiceName?.toLowerCase() ?? "");
  byHost.delete("");
  return new Map([...byHost].map(([host, all]) => [host, all.map(({ network, port }) => ({ network, port }))]));
}

/** The entrances with addresses in the mesh networks. */
export function writtenEntrances(networks: MeshNetworks): NetworkEntrance[] {
  return Object.entries(networks.networks).flatMap(([network, { gateways }]) =>
    gateways.flatMap(({ address, port }) => address === undefined ? [] : [{ network, address, port }])
  );
}

/**
 * Entrances by network, each once with all its clusters, sorted by address and port.
 *
 * @param addressesOf IP addresses of a host name. Empty: the name stands for no entrance.
 */
export function entrancesByNetwork(
  entrances: readonly NetworkEntrance[],
  addressesOf: (hostname: string) => readonly string[],
): Map<string, readonly NetworkEntrance[]> {
  const dialled = entrances.flatMap((one) => {
    const addresses = isIp(one.address) ? [canonicalIp(one.address)] : addressesOf(one.address);
    return addresses.map((address) => ({ ...one, address }));
  });
  const same = Map.groupBy(
    dialled,
    ({ network, address, port, hbone }) => `${network} ${address} ${port} ${hbone === true}`,
  );
  return Map.groupBy([...same.values()].map(together).sort(compareEntrances), ({ network }) => network);
}

/** The order of entrances: by address, then port. */
export function compareEntrances(a: NetworkEntrance, b: NetworkEntrance): number {
  return a.address < b.address ? -1 : a.address > b.address ? 1 : a.port - b.port;
}

function together(same: readonly NetworkEntrance[]): NetworkEntrance {
  const [{ network, address, port, hbone }] = same as [NetworkEntrance];
  const clusterIds = [...new Set(same.flatMap((one) => one.clusterIds ?? []))].sort();
  return { network, address, port, ...(clusterIds.length > 0 && { clusterIds }), ...(hbone && { hbone }) };
}
