/**
 * Several destination rules of one namespace for one host become the rules in force.
 *
 * Rules for the same audience (equal `exportTo`, equal selector) are merged: the first traffic policy wins, subsets are
 * collected. Rules for other audiences stay apart, and each client gets the one that is aimed at it most narrowly. A
 * rule that selects client workloads stands before all others for those workloads, and takes from the namespace's
 * general rule what it does not say itself.
 *
 * @module
 */
import type { Subset } from "../config/kinds/kinds.ts";
import type { ConfigObject } from "../config/types.ts";
import { effectiveExportTo, fullHost } from "./names.ts";
import type { EffectiveDestinationRule } from "./types.ts";
import { isVisible, visibilityRank } from "./visibility.ts";

/** Inputs on which merging depends. */
export interface DestinationRuleOptions {
  /** DNS suffix of the mesh, `--domain`. */
  readonly domainSuffix: string;
  /** `defaultDestinationRuleExportTo` of the mesh configuration. */
  readonly defaultExportTo: readonly string[];
  /** `ENABLE_ENHANCED_DESTINATIONRULE_MERGE`: rules with unequal `exportTo` stay independent. Off: they merge. */
  readonly enhancedMerge: boolean;
}

/** Rules merged into one. `spec.host` is full, `spec.exportTo` has the form of {@linkcode effectiveExportTo}. */
export interface MergedDestinationRule extends EffectiveDestinationRule {
  /** Subsets that were dropped because an earlier rule has one of that name. */
  readonly duplicateSubsets: readonly DroppedSubset[];
}

/** A subset that an earlier rule has. */
export interface DroppedSubset {
  readonly subset: string;
  /** Key of the rule whose subset holds. */
  readonly accepted: string;
  /** Key of the rule whose subset does not. */
  readonly rejected: string;
}

/** An object of that kind. */
export type DestinationRuleObject = ConfigObject<"DestinationRule">;

/** The full, lower-case host that a rule is for; may be a wildcard. */
export function destinationRuleHost(
  rule: DestinationRuleObject,
  options: Pick<DestinationRuleOptions, "domainSuffix">,
): string {
  return fullHost(rule.spec.host, rule.meta.namespace, options.domainSuffix);
}

/**
 * The rules in force among those of one namespace for one host, in order of precedence: of those that a client sees, the
 * first whose `workloadSelector` is absent or matches the client's labels is its rule.
 *
 * @param rules All of one namespace and one host, older first.
 */
export function mergeDestinationRules(
  rules: readonly DestinationRuleObject[],
  options: DestinationRuleOptions,
): MergedDestinationRule[] {
  const named = rules.map((rule) => withFullNames(rule, options));
  const general = named.filter((rule) => !rule.spec.workloadSelector);
  const local = general.filter((rule) => seenBy(rule, rule.meta.namespace));
  const selecting = groups(named.filter((rule) => rule.spec.workloadSelector), selectorKey)
    .map((group) => merge([...group, ...local]));
  if (!options.enhancedMerge) return [...selecting, ...mergedRegardless(general, local)];
  const audiences = groups(general, (rule) => JSON.stringify(rule.spec.exportTo));
  return selecting.concat(audiences.map(merge).sort(narrowFirst));
}

/**
 * The rule for one client among those that it sees.
 *
 * @param rules In the order of {@linkcode mergeDestinationRules}.
 * @param selects Whether the client is in the rules' own namespace and carries all these labels.
 */
export function ruleForClient<R extends EffectiveDestinationRule>(
  rules: readonly R[],
  selects: (matchLabels: Readonly<Record<string, string>>) => boolean,
): R | undefined {
  return rules.find(({ spec }) => !spec.workloadSelector || selects(spec.workloadSelector.matchLabels ?? {}));
}

/** Whether a rule is for all workloads that see it: a selector without labels matches each of them. */
export function isForAllWorkloads({ spec: { workloadSelector } }: Pick<EffectiveDestinationRule, "spec">): boolean {
  return Object.keys(workloadSelector?.matchLabels ?? {}).length === 0;
}

/** A rule that selects workloads is for its own namespace; its `exportTo` has no effect. */
function withFullNames(rule: DestinationRuleObject, options: DestinationRuleOptions): DestinationRuleObject {
  const { spec, meta } = rule;
  const exportTo = spec.workloadSelector
    ? [meta.namespace]
    : effectiveExportTo(spec.exportTo, meta.namespace, options.defaultExportTo);
  return { ...rule, spec: { ...spec, host: destinationRuleHost(rule, options), exportTo } };
}

function seenBy(rule: DestinationRuleObject, client: string): boolean {
  return isVisible({ namespace: rule.meta.namespace, exportTo: rule.spec.exportTo ?? [] }, client);
}

function selectorKey(rule: DestinationRuleObject): string {
  return JSON.stringify(Object.entries(rule.spec.workloadSelector?.matchLabels ?? {}).sort());
}

function groups(
  rules: readonly DestinationRuleObject[],
  key: (rule: DestinationRuleObject) => string,
): DestinationRuleObject[][] {
  return [...Map.groupBy(rules, key).values()];
}

/** Private first, then exported by name, then to all; older first among equals. */
function narrowFirst(a: EffectiveDestinationRule, b: EffectiveDestinationRule): number {
  return breadth(a) - breadth(b);
}

function breadth({ namespace, spec }: EffectiveDestinationRule): number {
  const exportTo = spec.exportTo ?? [];
  return exportTo.length === 1 ? visibilityRank({ namespace, exportTo }, exportTo[0] ?? "") : 1;
}

/** One rule for the own namespace, of all that it sees; one for the others, of all that is not private. */
function mergedRegardless(
  general: readonly DestinationRuleObject[],
  local: readonly DestinationRuleObject[],
): MergedDestinationRule[] {
  const exported = general.filter(({ spec, meta }) => spec.exportTo?.some((to) => to !== meta.namespace));
  const own = local.length ? [merge(local)] : [];
  const others = exported.length ? [merge(exported)] : [];
  const [mine] = own;
  if (!mine || !others.length) return [...own, ...others];
  return [{ ...mine, spec: { ...mine.spec, exportTo: [mine.namespace] } }, ...others];
}

/** The first rule, its gaps filled from the later ones. */
function merge(rules: readonly DestinationRuleObject[]): MergedDestinationRule {
  const [first, ...rest] = rules as [DestinationRuleObject, ...(DestinationRuleObject)[]];
  const { name, namespace } = first.meta;
  const causes = rules.map((rule) => rule.key);
  const subsets = new Map<string, Subset>();
  const owners = new Map<string, string>();
  const duplicateSubsets: DroppedSubset[] = [];
  for (const { key, spec } of rules) {
    for (const subset of spec.subsets ?? []) {
      const accepted = owners.get(subset.name);
      if (accepted !== undefined) duplicateSubsets.push({ subset: subset.name, accepted, rejected: key });
      else {
        owners.set(subset.name, key);
        subsets.set(subset.name, subset);
      }
    }
  }
  // A rule that stands alone is the rule: there are many thousand, and nothing of them is there twice.
  if (rest.length === 0 && duplicateSubsets.length === 0) {
    return { name, namespace, spec: first.spec, causes, duplicateSubsets: NONE_DROPPED };
  }
  const trafficPolicy = first.spec.trafficPolicy ?? rest.find((rule) => rule.spec.trafficPolicy)?.spec.trafficPolicy;
  return {
    name,
    namespace,
    spec: {
      ...first.spec,
      ...(trafficPolicy ? { trafficPolicy } : {}),
      ...(subsets.size ? { subsets: [...subsets.values()] } : {}),
    },
    causes,
    duplicateSubsets,
  };
}

const NONE_DROPPED: readonly DroppedSubset[] = Object.freeze([]);
