/**
 * DestinationRules with the same namespace, host and audience are merged. The merged rule has the traffic policy of the
 * oldest DestinationRule with a traffic policy.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { DestinationRuleSpec } from "../../config/kinds/kinds.ts";
import type { EffectiveDestinationRule } from "../../mesh/types.ts";
import type { Analyzer } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";

export const TRAFFIC_POLICIES: Analyzer<"DestinationRule"> = {
  kind: "DestinationRule",
  reports: ["dropped-traffic-policy"],
  analyze: ({ key, meta: { namespace }, spec }, read, report) => {
    if (spec.trafficPolicy === undefined) return;
    const host = read.fullHost(spec.host, namespace);
    const merged = read.allDestinationRules(host).filter((rule) =>
      rule.namespace === namespace && rule.spec.host === host && rule.causes.length > 1 && isOfAudience(rule, spec)
    );
    for (const { causes } of merged) {
      const winner = causes.slice(0, Math.max(0, causes.indexOf(key))).find((one) => policyOf(one, read) !== undefined);
      if (winner === undefined || isDeepStrictEqual(policyOf(winner, read), spec.trafficPolicy)) continue;
      const name = winner.split("/").at(-1)!;
      return report("error", "dropped-traffic-policy", {
        field: "spec.trafficPolicy",
        expected: `no trafficPolicy, since ${name} has one for ${spec.host}`,
        others: [winner],
        effect: `Clients get the trafficPolicy of ${name}, and nothing of this one. Its subsets act.`,
      });
    }
  },
};

/**
 * Whether a merged rule is for exactly the clients of an object. A merged rule for other clients may only inherit from
 * the object.
 */
function isOfAudience({ spec }: EffectiveDestinationRule, { workloadSelector }: DestinationRuleSpec): boolean {
  const labels = (one: DestinationRuleSpec["workloadSelector"]) =>
    one && JSON.stringify(Object.entries(one.matchLabels ?? {}).sort());
  return labels(spec.workloadSelector) === labels(workloadSelector);
}

function policyOf(key: string, read: AnalysisReader): DestinationRuleSpec["trafficPolicy"] {
  const [, namespace = "", name = ""] = key.split("/");
  return read.object("DestinationRule", namespace, name)?.spec.trafficPolicy;
}
