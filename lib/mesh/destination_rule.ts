/**
 * Merges the destination rules of a namespace for a host into the rules in force.
 *
 * Rules for the same audience (equal `exportTo`, equal selector) are merged: the first traffic policy wins, subsets are
 * collected. Rules for other audiences stay apart, and each client gets the rule with the narrowest aim. A rule for
 * selected client workloads stands before all others for those workloads. Fields unset in such a rule come from the
 * namespace's general rule.
 *
 * @module
 */
import type { Subset } from "../config/kinds/kinds.ts";
import type { ConfigObject } from "../config/types.ts";
import { effectiveExportTo, fullHost } from "./names.ts";
import type { EffectiveDestinationRule } from "./types.ts";
import { isVisible, visibilityRank } from "./visibility.ts";

/** Inputs of merging. */
export interface DestinationRuleOptions {
  /** DNS suffix of the mesh, `--domain`. */
  readonly domainSuffix: string;
  /** `defaultDestinationRuleExportTo` of the mesh configuration. */
  readonly defaultExportTo: readonly string[];
  /**
   * `ENABLE_ENHANCED_DESTINATIONRULE_MERGE`: rules with unequal `exportTo` stay independent. Off: such rules are
   * merged.
   */
  readonly enhancedMerge: boolean;
}

/** A merged rule. `spec.host` is full, `spec.exportTo` has the form of {@linkcode effectiveExportTo}. */
export interface MergedDestinationRule extends EffectiveDestinationRule {
  /** Subsets dropped because an earlier rule has a subset of the same name. */
  readonly duplicateSubsets: readonly DroppedSubset[];
}

/** A subset with the name of an earlier rule's subset. */
export interface DroppedSubset {
  readonly subset: string;
  /** Key of the rule with the subset in force. */
  readonly accepted: string;
  /** Key of the rule with the dropped subset. */
  readonly rejected: string;
}

/** A DestinationRule object. */
export type DestinationRuleObject = ConfigObject<"DestinationRule">;

/** The full, lower-case host of a rule; may be a wildcard. */
export function destinationRuleHost(
  rule: DestinationRuleObject,
  options: Pick<DestinationRuleOptions, "domainSuffix">,
): string {
  return fullHost(rule.spec.host, rule.meta.namespace, options.domainSuffix);
}

/**
 * The rules in force among a namespace's rules for a host, in order of precedence. A client's rule is the first visible
 * rule without a `workloadSelector`, or with a selector that matches the client's labels.
 *
 * @param rules All rules of the namespace and host, older first.
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
 * The rule for a client among the visible rules.
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

/** Whether a rule is for all workloads that see the rule: a selector without labels matches every workload. */
export function isForAllWorkloads({ spec: { workloadSelector } }: Pick<EffectiveDestinationRule, "spec">): boolean {
  return Object.keys(workloadSelector?.matchLabels ?? {}).length === 0;
}

/** A rule with selected workloads is for its own namespace only; `exportTo` has no effect. */
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

/** A rule for the own namespace from all rules, and a rule for other namespaces from all rules that are not private. */
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

/** The first rule, with gaps filled from later rules. */
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
  // A single rule is used unchanged: there are many thousand, with nothing to merge.
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
