/**
 * Endpoints of networks that are entered through gateways: these stand in for them, with their weight.
 *
 *     far endpoints of one locality and network, their weights ──> one endpoint a gateway, which shares the sum
 *
 * A gateway passes connections on by the name that a client of mutual TLS asks for, and sees nothing of them. So only
 * endpoints that accept mutual TLS are reached through it, by clients that offer it.
 *
 * @module
 */
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
  const [{ endpoint: first, entrances = [] }] = members as [ReachedCandidate];
  const share = Math.max(1, Math.round((weightOf(members) * scale) / entrances.length));
  const { network, locality, portName } = first;
  return entrances.map((entrance) => {
    const endpoint: Endpoint = {
      ...{ address: entrance.address, port: entrance.port, portName, network, locality, weight: 1, health: "healthy" },
      ...{ labels: { [NETWORK_LABEL]: network }, clusterId: first.clusterId, tlsMode: "mesh" },
      ...{ serviceAccount: "", namespace: "", workloadName: "" },
    };
    const message = { endpoint: { address: address(entrance.address, entrance.port) }, metadata: MUTUAL_METADATA };
    return weighted({ endpoint, message }, share);
  });
}

const MUTUAL_METADATA = { filter_metadata: MUTUAL };

function weighted({ endpoint, message }: EndpointCandidate, factor: number): EndpointCandidate {
  const weight = Math.min((endpoint.weight || 1) * factor, MAX_WEIGHT);
  if (weight === (endpoint.weight || 1)) return { endpoint, message };
  return { endpoint: { ...endpoint, weight }, message: { ...message, load_balancing_weight: { value: weight } } };
}

function leastCommonMultiple(a: number, b: number): number {
  const divisor = (x: number, y: number): number => y === 0 ? x : divisor(y, x % y);
  return (a * b) / divisor(a, b);
}
