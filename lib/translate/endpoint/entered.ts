/**
 * Endpoints in networks that are entered through gateways. The gateways replace the endpoints and carry their weight.
 *
 *     endpoints of one remote locality and network ──> one endpoint per gateway, each with a share of the total weight
 *                     (per cluster, if the cluster has gateways)
 *
 * A gateway passes connections on by the SNI of mutual TLS, or by the service that an outer connection by HBONE names,
 * and does not decrypt the content. So a gateway serves only endpoints that accept mutual TLS or HBONE, for clients that
 * offer the same.
 *
 * @module
 */
import { hostAndPort } from "../values/host.ts";
import { compareEntrances } from "../../mesh/networks.ts";
import { NETWORK_LABEL } from "../../registry/labels.ts";
import type { Endpoint, NetworkEntrance } from "../../registry/types.ts";
import { type EndpointCandidate, MAX_WEIGHT, weightOf } from "./group.ts";
import { address, farEndpoint, MUTUAL } from "./lb_endpoint.ts";

/** An endpoint that is dialled directly, or an endpoint in a network with gateways. */
export interface ReachedCandidate extends EndpointCandidate {
  /** The gateways of the endpoint's network, never empty. Absent: the endpoint is dialled directly. */
  readonly entrances?: readonly NetworkEntrance[];
  /** The service `HOST:PORT` that is named to gateways for HBONE. Absent: the gateways are for mutual TLS. */
  readonly named?: string;
}

/** The candidates, with gateways in place of endpoints of remote networks. */
export function withEntrances(candidates: readonly ReachedCandidate[]): readonly EndpointCandidate[] {
  const far = candidates.filter((one) => one.entrances !== undefined);
  if (far.length === 0) return candidates;
  const scale = scaleOf(candidates, new Set(far.map(({ entrances = [] }) => entrances.length)));
  const near = candidates.filter((one) => one.entrances === undefined).map((one) => weighted(one, scale));
  const networks = Map.groupBy(
    far,
    ({ endpoint: { locality, network }, named }) => `${network} ${locality} ${named !== undefined}`,
  );
  return [...near, ...[...networks.values()].flatMap((members) => gateways(members, scale))];
}

/**
 * The factor for all weights that makes each gateway's share a whole number. If the sum of the weights would exceed
 * Envoy's limit, the factor is smaller and shares are rounded.
 */
function scaleOf(candidates: readonly EndpointCandidate[], counts: ReadonlySet<number>): number {
  const most = Math.floor(MAX_WEIGHT / 2 / weightOf(candidates));
  const exact = [...counts].reduce((a, b) => a > most ? a : leastCommonMultiple(a, b), 1);
  return Math.max(1, Math.min(exact, most));
}

/** The gateways that replace endpoints of one network and locality. */
function gateways(members: readonly ReachedCandidate[], scale: number): EndpointCandidate[] {
  const [{ endpoint: first, named }] = members as [ReachedCandidate];
  const shares = new Map<NetworkEntrance, number>();
  for (const ofCluster of Map.groupBy(members, ({ endpoint: { clusterId } }) => clusterId).values()) {
    const entrances = ofCluster[0]?.entrances ?? [];
    const share = Math.max(1, Math.round((weightOf(ofCluster) * scale) / entrances.length));
    for (const entrance of entrances) shares.set(entrance, (shares.get(entrance) ?? 0) + share);
  }
  const sorted = [...shares].sort(([a], [b]) => compareEntrances(a, b));
  return sorted.map(([entrance, share]) => weighted(gateway(first, entrance, named), share));
}

/** A gateway in place of similar endpoints. */
function gateway(
  { network, locality, portName, clusterId }: Endpoint,
  way: NetworkEntrance,
  named: string | undefined,
): EndpointCandidate {
  const endpoint: Endpoint = {
    ...{ address: way.address, port: way.port, portName, network, locality, weight: 1, health: "healthy" },
    ...{ labels: { [NETWORK_LABEL]: network }, clusterId: way.clusterIds?.[0] ?? clusterId, tlsMode: "mesh" },
    ...{ serviceAccount: "", namespace: "", workloadName: "" },
  };
  const message = named === undefined
    ? { endpoint: { address: address(way.address, way.port) }, metadata }
    : farEndpoint(hostAndPort(way.address, way.port), named);
  return { endpoint, message };
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
