/**
 * Endpoints of one cluster, grouped by where they are: the raw form of a load assignment.
 *
 * @module
 */
import type { Endpoint } from "../../registry/types.ts";
import type { LeanEndpoint, LeanLocality } from "./encode.ts";
import { locality } from "./locality.ts";

/** An endpoint and the message that stands for it. The message may be part of several assignments: never change it. */
export interface EndpointCandidate {
  readonly endpoint: Endpoint;
  readonly message: LeanEndpoint;
}

/** Endpoints of one locality and one priority. */
export interface Group {
  readonly locality: string;
  readonly members: readonly EndpointCandidate[];
  /** Share of the locality among those of its priority. */
  readonly weight: number;
  /** 0 is used first; higher ones only when those before are down. Numbers have no gaps. */
  readonly priority: number;
}

/** The largest weight that a message can hold, and that all localities of a priority may sum up to. */
export const MAX_WEIGHT = 0xffff_ffff;

/** Sum of the endpoints' weights (an unset one counts as 1), cut at the largest that a message can hold. */
export function weightOf(members: readonly EndpointCandidate[]): number {
  let sum = 0;
  for (const { endpoint } of members) sum += endpoint.weight || 1;
  return Math.min(sum, MAX_WEIGHT);
}

/** Groups by locality, sorted by its text; within one the given order stays. All at priority 0. */
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
