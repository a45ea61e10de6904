/**
 * Gateways of the Gateway API that are entrances to a network: the label `topology.mesh.io/network` names the network.
 *
 *     spec.addresses  x  listeners that pass connections on by server name, or listeners for HBONE
 *                                                                            ->  network, address, port
 *
 * The Service of a managed Gateway has the Gateway's label, and is an entrance by itself.
 *
 * @module
 */
import { NETWORK_LABEL } from "../attach/names.ts";
import type { GatewayView } from "../attach/types.ts";

/** An entrance to a network. */
export interface GatewayEntrance {
  readonly network: string;
  /** IP address or host name. */
  readonly address: string;
  readonly port: number;
  /** The gateway takes HBONE. */
  readonly hbone?: true;
}

/** The entrances of a Gateway. A host name is an address only at a remote Gateway; elsewhere it names a service. */
export function gatewayEntrances({ gateway, role, listeners }: GatewayView): GatewayEntrance[] {
  const network = gateway.meta.labels[NETWORK_LABEL];
  if (!network) return [];
  const addresses = (gateway.spec.addresses ?? []).flatMap(({ type = "IPAddress", value = "" }) =>
    value !== "" && (type === "IPAddress" || (type === "Hostname" && role === "remote")) ? [value] : []
  );
  const accepted = listeners.filter((one) => one.accepted.status === "True");
  const named = accepted.filter(({ autoPassthrough }) => autoPassthrough).map(({ spec }) => spec.port);
  const tunnels = accepted.filter(({ protocol }) => protocol === "HBONE").map(({ spec }) => spec.port);
  return addresses.flatMap((address) => [
    ...[...new Set(named)].map((port) => ({ network, address, port })),
    ...[...new Set(tunnels)].map((port) => ({ network, address, port, hbone: true as const })),
  ]);
}
