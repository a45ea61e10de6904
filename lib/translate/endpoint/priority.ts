/**
 * Weights by `distribute`, priorities by failover.
 *
 * The proxy's locality is read only if the rules in force depend on the locality.
 *
 * @module
 */
import type { LocalityDistribute, LocalityFailover } from "../../config/kinds/common/schema.ts";
import type { LocalityPlan } from "../destination/locality_setting.ts";
import type { Reader } from "../reader/reader.ts";
import { type EndpointCandidate, type Group, weightOf } from "./group.ts";
import { distance, matchesLocality, placeLabel } from "./locality.ts";

/** Applies the locality rules of a destination to groups of endpoints, from the proxy's place. */
export function applyLocality(read: Reader, groups: Group[], plan: LocalityPlan): Group[] {
  const { setting, failover } = plan;
  if (setting === undefined || groups.length === 0) return groups;
  if (setting.distribute !== undefined) return distribute(read, groups, setting.distribute);
  if (!failover) return groups;
  const labels = setting.failoverPriority;
  if (labels === undefined || labels.length === 0) return failoverByLocality(read, groups, setting.failover ?? []);
  const ordered = withoutGaps(groups.flatMap((g) => splitByLabels(read, g, labels)));
  if (setting.failover === undefined || setting.failover.length === 0) return ordered;
  return failoverByLocality(read, ordered, setting.failover);
}

/**
 * Gives localities the weights of the first rule whose `from` matches the proxy's locality. Localities without a match
 * in the rule get no traffic.
 */
function distribute(read: Reader, groups: Group[], rules: readonly LocalityDistribute[]): Group[] {
  const rule = rules.find(({ from }) => read.derived(`inLocality/${from}`, (t) => matchesLocality(t.locality, from)));
  if (rule === undefined) return groups;
  const weights = new Map<Group, number>();
  for (const [to, percent] of Object.entries(rule.to)) {
    const matched = groups.filter((g) => !weights.has(g) && matchesLocality(g.locality, to));
    const total = matched.reduce((sum, g) => sum + g.weight, 0);
    // A wildcard's share is split among the matching localities by the weight of their endpoints.
    for (const group of matched) weights.set(group, Math.ceil((group.weight * percent) / total));
  }
  return groups.flatMap((g) => {
    const weight = weights.get(g);
    return weight === undefined || weight === 0 ? [] : [{ ...g, weight }];
  });
}

/** Number of steps of `failoverByLocality`: same subzone, same zone, same region, the failover region, elsewhere. */
const STEPS = 5;

/** Orders groups by distance: subzone, zone, region, the failover region for the proxy's region, all others. */
function failoverByLocality(read: Reader, groups: Group[], rules: readonly LocalityFailover[]): Group[] {
  const here = read.property("locality");
  const region = here.split("/")[0];
  const rule = rules.find((r) => r.from === region);
  return withoutGaps(groups.map((g) => {
    let step: number = distance(here, g.locality);
    if (step === 3 && rule !== undefined && g.locality.split("/")[0] !== rule.to) step = 4;
    return { ...g, priority: g.priority * STEPS + step };
  }));
}

/**
 * Splits a group by the number of leading labels that endpoint and proxy share: all labels give priority 0, none gives
 * the last priority. For `label=value` the value replaces the proxy's own.
 */
function splitByLabels(read: Reader, group: Group, labels: readonly string[]): Group[] {
  const wanted = labels.map((text) => wantedLabel(read, text));
  const priorityOf = ({ endpoint }: EndpointCandidate) => {
    const mismatch = wanted.findIndex(({ label, value }) => placeLabel(endpoint, label) !== value);
    return mismatch < 0 ? 0 : wanted.length - mismatch;
  };
  return [...Map.groupBy(group.members, priorityOf)].map(([priority, members]) => ({
    locality: group.locality,
    members,
    weight: weightOf(members),
    priority,
  }));
}

function wantedLabel(read: Reader, text: string): { label: string; value: string } {
  const at = text.indexOf("=");
  if (at >= 0) return { label: text.slice(0, at), value: text.slice(at + 1) };
  return { label: text, value: read.derived(`label/${text}`, (t) => placeLabel(t, text)) };
}

/** Renumbers priorities to 0, 1, 2 ... because Envoy accepts no gaps, and sorts by priority. The sort is stable. */
function withoutGaps(groups: Group[]): Group[] {
  const used = [...new Set(groups.map((g) => g.priority))].sort((a, b) => a - b);
  const rank = new Map(used.map((priority, i) => [priority, i]));
  return groups.map((g) => ({ ...g, priority: rank.get(g.priority) ?? 0 }))
    .sort((a, b) => a.priority - b.priority);
}
