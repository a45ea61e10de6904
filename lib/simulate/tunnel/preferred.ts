/**
 * The endpoints that a node tunnel chooses from, and their shares.
 *
 * @module
 */
import { LoadBalancing_Mode as Mode, LoadBalancing_Scope as Scope } from "../../../proto/gen/enums.ts";
import type { istio } from "../../../proto/gen/types.ts";
import type { TunnelEndpoint, TunnelWorkload } from "./addresses.ts";

type Preference = istio.workload.LoadBalancing.Scope;

/** What a client and an endpoint have in common at each scope. */
const PROPERTIES: Readonly<Partial<Record<Preference, (of: TunnelWorkload) => string>>> = {
  [Scope.REGION]: ({ locality }) => locality?.region ?? "",
  [Scope.ZONE]: ({ locality }) => locality?.zone ?? "",
  [Scope.SUBZONE]: ({ locality }) => locality?.subzone ?? "",
  [Scope.NODE]: ({ node }) => node ?? "",
  [Scope.CLUSTER]: ({ cluster_id }) => cluster_id ?? "",
  [Scope.NETWORK]: ({ network }) => network ?? "",
};

/** An endpoint with its share of connections. */
export interface ChosenEndpoint {
  readonly endpoint: TunnelEndpoint;
  /** Above 0 and up to 1. */
  readonly share: number;
}

/**
 * The endpoints with the most preferences from the left; in the mode STRICT those with all preferences. Their weights
 * share the connections.
 */
export function preferred(
  endpoints: readonly TunnelEndpoint[],
  { mode, routing_preference = [] }: istio.workload.LoadBalancing = {},
  client: TunnelWorkload,
): ChosenEndpoint[] {
  const isRanked = mode === Mode.STRICT || mode === Mode.FAILOVER;
  const ranks = endpoints.map(({ workload }) => isRanked ? rankOf(workload, routing_preference, client) : 0);
  const wanted = mode === Mode.STRICT ? routing_preference.length : Math.max(...ranks, 0);
  const best = endpoints.filter((_, at) => ranks[at] === wanted);
  const weights = best.map(({ workload: { capacity } }) => capacity?.value ?? 1);
  const sum = weights.reduce((all, one) => all + one, 0);
  return best.map((endpoint, at) => ({ endpoint, share: (weights[at] ?? 0) / sum })).filter(({ share }) => share > 0);
}

function rankOf(workload: TunnelWorkload, preferences: readonly Preference[], client: TunnelWorkload): number {
  const first = preferences.findIndex((scope) => {
    const property = PROPERTIES[scope];
    return property === undefined || property(workload) !== property(client);
  });
  return first < 0 ? preferences.length : first;
}
