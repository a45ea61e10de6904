/**
 * Endpoints of a cluster, grouped by locality: the raw form of a load assignment.
 *
 * @module
 */
import type { Endpoint } from "../../registry/types.ts";
import type { LeanEndpoint, LeanLocality } from "./encode.ts";
import { locality } from "./locality.ts";

/** An endpoint with its message. Several assignments may share the message: never change a message. */
export interface EndpointCandidate {
  readonly endpoint: Endpoint;
  readonly message: LeanEndpoint;
}

/** Endpoints of one locality and one priority. */
export interface Group {
  readonly locality: string;
  readonly members: readonly EndpointCandidate[];
  /** Weight of the locality within its priority. */
  readonly weight: number;
  /** Envoy uses priority 0 first, and higher numbers when lower numbers are down. Numbers have no gaps. */
  readonly priority: number;
}

/** The largest weight in a message, and the largest sum over the localities of a priority. */
export const MAX_WEIGHT = 0xffff_ffff;

/** Sum of the endpoints' weights, capped at {@linkcode MAX_WEIGHT}. An unset weight counts as 1. */
export function weightOf(members: readonly EndpointCandidate[]): number {
  let sum = 0;
  for (const { endpoint } of members) sum += endpoint.weight || 1;
  return Math.min(sum, MAX_WEIGHT);
}

/** Groups by locality, sorted by the locality's text. Endpoints keep their order. All groups have priority 0. */
export function byLocality(candidates: readonly EndpointCandidate[]): Group[] {
  const first = candidates[0];
  if (first === undefined) return [];
  const only = first.endpoint.locality;
  if (candidates.every((c) => c.endpoint.locality === only)) {
    return [{ locality: only, members: candidates, weight: weightOf(candidates), priority: 0 }];
  }
  const groups = Map.groupBy(candidates, (c) => c.endpoint.locality);
  return [...groups].sort(([a], [b]) => a < b ? -1 : 1)
    .map(([place, members]) => ({ locality: place, members, weight: weightOf(members), priority: 0 }));
}

/** The message of a group. */
export function localityLbEndpoints(group: Group): LeanLocality {
  const place = locality(group.locality);
  return {
    ...(place && { locality: place }),
    lb_endpoints: group.members.map((m) => m.message),
    load_balancing_weight: { value: group.weight },
    ...(group.priority > 0 && { priority: group.priority }),
  };
}
