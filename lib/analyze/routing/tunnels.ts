/**
 * Tunnels by POST: stock Envoy has a defect there.
 *
 * @module
 */
import type { Analyzer } from "../analyzer.ts";

export const POST_TUNNELS: Analyzer<"DestinationRule"> = {
  kind: "DestinationRule",
  reports: ["post-tunnel"],
  analyze: ({ spec: { trafficPolicy, subsets = [] } }, _read, report) => {
    const policies = [
      { policy: trafficPolicy, at: "spec.trafficPolicy" },
      ...subsets.map((subset, i) => ({ policy: subset.trafficPolicy, at: `spec.subsets[${i}].trafficPolicy` })),
    ];
    for (const { policy, at } of policies) {
      if (policy?.tunnel?.protocol !== "POST") continue;
      report("warning", "post-tunnel", { field: `${at}.tunnel.protocol`, value: "POST", expected: "CONNECT" });
    }
  },
};
