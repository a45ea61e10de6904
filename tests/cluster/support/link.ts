/**
 * A wire between two clusters. Each cluster reaches the API server and the load balancers of the other cluster, but no
 * pod and no Service of the other cluster.
 *
 * Permissions: run (ip), the permissions of the handles.
 *
 * @module
 */
import type { ClusterHandle } from "./handle.ts";
import { layWire } from "./namespaces.ts";

/** The wire's device at both ends. A device "link" would be read as a word of `ip`. */
const DEVICE = "wire";

/** Connects two clusters with different numbers. */
export async function linkClusters(one: ClusterHandle, other: ClusterHandle): Promise<void> {
  await layWire({ pid: one.controlPid, device: DEVICE }, { pid: other.controlPid, device: DEVICE });
  await setUpEnd(one, "10.69.0.1", "10.69.0.2", other);
  await setUpEnd(other, "10.69.0.2", "10.69.0.1", one);
}

async function setUpEnd(here: ClusterHandle, own: string, peer: string, there: ClusterHandle): Promise<void> {
  const { control, balancers } = there.network;
  await here.onControl([
    `ip addr add ${own}/30 dev ${DEVICE}`,
    `ip link set ${DEVICE} up`,
    `ip route add ${control}/32 via ${peer}`,
    `ip route add ${balancers} via ${peer}`,
    // The other cluster has no route to pods of this cluster.
    `iptables -t nat -A POSTROUTING -o ${DEVICE} -j MASQUERADE`,
  ].join("\n"));
}
