/**
 * Subsets of DestinationRules without endpoints. If a VirtualService sends to such a subset, the VirtualService has the
 * finding.
 *
 * @module
 */
import { joinPath } from "../../config/schema/field.ts";
import { isWildcard } from "../../mesh/host_match.ts";
import type { EffectiveVirtualService } from "../../mesh/types.ts";
import type { Analyzer } from "../analyzer.ts";
import { destinationsOf } from "./destination_list.ts";
import { reachesAny } from "./subsets.ts";

export const SUBSET_ENDPOINTS: Analyzer<"DestinationRule"> = {
  kind: "DestinationRule",
  reports: ["subset-without-endpoints"],
  analyze: ({ meta: { namespace }, spec }, read, report) => {
    const host = read.fullHost(spec.host, namespace);
    const known = isWildcard(host) ? undefined : read.knownHost(host, namespace);
    if (known === undefined) return;
    for (const [at, { name, labels = {} }] of (spec.subsets ?? []).entries()) {
      const wanted = Object.entries(labels);
      if (wanted.length === 0 || reachesAny(known, namespace, labels, read)) continue;
      if (read.virtualServicesFor(host).some((route) => sendsTo(route, host, name))) continue;
      const shown = wanted.map(([key, value]) => `${key}=${value}`).join(", ");
      report("warning", "subset-without-endpoints", {
        field: joinPath(`spec.subsets[${at}]`, "labels"),
        value: labels,
        expected: `labels that an endpoint of ${known.host} has (no endpoint has ${shown})`,
        others: known.cause === undefined ? [] : [known.cause],
      });
    }
  },
};

function sendsTo({ spec }: EffectiveVirtualService, host: string, subset: string): boolean {
  for (const { destination } of destinationsOf(spec)) {
    if (destination.host === host && destination.subset === subset) return true;
  }
  return false;
}
