/**
 * Endpoints of networks that are entered through gateways: these stand in for them, with their weight.
 *
 *     far endpoints of one locality and network, their weights ──> one endpoint a gateway, which shares the sum
 *                                    (of one cluster, where that has gateways of its own)
 *
 * A gateway passes connections on by the name that a client of mutual TLS asks for, and sees nothing of them. So only
 * endpoints that accept mutual TLS are reached through it, by clients that offer it.
 *
 * @module
 */
import { compareEntrances } from "../../mesh/networks.ts";
import { NETWORK_LABEL } from "../../registry/labels.ts";
import type { Endpoint, NetworkEntrance } from "../../registry/types.ts";
import { type EndpointCandidate, MAX_WEIGHT, weightOf } from "./group.ts";
import { address, MUTUAL } from "./lb_endpoint.ts";

/** An endpoint that is dialled, or one of a network that is entered. */
export interface ReachedCandidate extends EndpointCandidate {
  /** The ways into its network, never empty; absent: it is dialled itself. */
  readonly entrances?: readonly NetworkEntrance[];
}

/** The candidates that are dialled, with gateways instead of those whose network is entered. */
export function withEntrances(candidates: readonly ReachedCandidate[]): readonly EndpointCandidate[] {
  const far = candidates.filter((one) => one.entrances !== undefined);
  if (far.length === 0) return candidates;
  const scale = scaleOf(candidates, new Set(far.map(({ entrances = [] }) => entrances.length)));
  const near = candidates.filter((one) => one.entrances === undefined).map((one) => weighted(one, scale));
  const networks = Map.groupBy(far, ({ endpoint: { locality, network } }) => `${network} ${locality}`);
  return [...near, ...[...networks.values()].flatMap((members) => gateways(members, scale))];
}

/**
 * The factor by which all weights grow, so that each gateway's share is a whole number; smaller, and shares rounded, where
 * their sum would be more than Envoy takes.
 */
function scaleOf(candidates: readonly EndpointCandidate[], counts: ReadonlySet<number>): number {
  const most = Math.floor(MAX_WEIGHT / 2 / weightOf(candidates));
  const exact = [...counts].reduce((a, b) => a > most ? a : leastCommonMultiple(a, b), 1);
  return Math.max(1, Math.min(exact, most));
}

/** The gateways instead of endpoints of one network and locality. */
function gateways(members: readonly ReachedCandidate[], scale: number): EndpointCandidate[] {
  const [{ endpoint: first }] = members as [ReachedCandidate];
  const shares = new Map<NetworkEntrance, number>();
  for (const ofCluster of Map.groupBy(members, ({ endpoint: { clusterId } }) => clusterId).values()) {
    const entrances = ofCluster[0]?.entrances ?? [];
    const share = Math.max(1, Math.round((weightOf(ofCluster) * scale) / entrances.length));
    for (const entrance of entrances) shares.set(entrance, (shares.get(entrance) ?? 0) + share);
  }
  const sorted = [...shares].sort(([a], [b]) => compareEntrances(a, b));
  return sorted.map(([entrance, share]) => gateway(first, entrance, share));
}

/** A gateway instead of endpoints such as this one. */
function gateway({ network, locality, portName, clusterId }: Endpoint, way: NetworkEntrance, share: number) {
  const endpoint: Endpoint = {
    ...{ address: way.address, port: way.port, portName, network, locality, weight: 1, health: "healthy" },
    ...{ labels: { [NETWORK_LABEL]: network }, clusterId: way.clusterIds?.[0] ?? clusterId, tlsMode: "mesh" },
    ...{ serviceAccount: "", namespace: "", workloadName: "" },
  };
  return weighted({ endpoint, message: { endpoint: { address: address(way.address, way.port) }, metadata } }, share);
}

const metadata = { filter_metadata: MUTUAL };

function weighted({ endpoint, message }: EndpointCandidate, factor: number): EndpointCandidate {
  const weight = Math.min((endpoint.weight || 1) * factor, MAX_WEIGHT);
  if (weight === (endpoint.weight || 1)) return { endpoint, message };
  return { endpoint: { ...endpoint, weight }, message: { ...message, load_balancing_weight: { value: weight } } };
}

function leastCommonMultiple(a: number, b: number): number {
  const divisor = (x: number, y: number): number => y === 0 ? x : divisor(y, x % y);
  return (a * b) / divisor(a, b);
}
