/**
 * Load assignments of gRPC libraries: dialled endpoints, with each locality named, and only once per priority.
 *
 * Format: gRFC A27. Libraries refuse an assignment with a nameless locality, a repeated locality, or a repeated
 * endpoint.
 *
 * @module
 */
import type { Built } from "../message/built.ts";
import { localityPlan } from "../destination/locality_setting.ts";
import { causesOf } from "../destination/plan.ts";
import type { LeanAssignment, LeanLocality } from "../endpoint/encode.ts";
import { byLocality, localityLbEndpoints, MAX_WEIGHT } from "../endpoint/group.ts";
import { lbEndpoint } from "../endpoint/lb_endpoint.ts";
import { applyLocality } from "../endpoint/priority.ts";
import type { Reader } from "../reader/reader.ts";
import { type LibraryDestination, libraryDestinations } from "./destinations.ts";

/** Load assignments of a host's EDS clusters. */
export function clientAssignments(read: Reader, host: string): Built<LeanAssignment>[] {
  return libraryDestinations(read, host)
    .filter(({ name, without }) => name === undefined && without === undefined)
    .map((d) => ({ message: assignment(read, d), causes: causesOf(d.plan) }));
}

function assignment(read: Reader, { plan, endpoints }: LibraryDestination): LeanAssignment {
  const candidates = endpoints.map((endpoint) => ({
    endpoint,
    message: lbEndpoint(read.settings, plan.service, endpoint, "plain"),
  }));
  const groups = applyLocality(read, byLocality(candidates), localityPlan(read, plan));
  return { cluster_name: plan.name, endpoints: eachOnce(groups.map(localityLbEndpoints)) };
}

function eachOnce(groups: readonly LeanLocality[]): LeanLocality[] {
  const found = new Map<string, LeanLocality>();
  for (const group of groups) {
    const { locality = {}, priority = 0, load_balancing_weight: { value } } = group;
    const key = JSON.stringify([priority, locality.region, locality.zone, locality.sub_zone]);
    const same = found.get(key);
    found.set(key, {
      ...group,
      locality,
      lb_endpoints: [...same?.lb_endpoints ?? [], ...group.lb_endpoints],
      load_balancing_weight: { value: Math.min(MAX_WEIGHT, value + (same?.load_balancing_weight.value ?? 0)) },
    });
  }
  return [...found.values()];
}
