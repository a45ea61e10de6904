/**
 * Locality load balancing.
 *
 * @module
 */
import type { Findings } from "../../finding/findings.ts";
import type { LocalityLbSetting } from "../kinds/common/schema.ts";
import { joinPath } from "../schema/field.ts";

const TOPOLOGY_LABELS = new Set([
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
  "topology.mesh.io/subzone",
]);

/** Checks a locality setting. `hasOutlierDetection`: failover works only with outlier detection. */
export function checkLocality(
  setting: LocalityLbSetting | undefined,
  hasOutlierDetection: boolean,
  at: string,
  report: Findings,
): void {
  if (setting === undefined) return;
  const { distribute, failover, failoverPriority } = setting;
  if (distribute !== undefined && failover !== undefined) {
    report.error(at, "distribute and failover", "only one of the two");
  }
  if (failover !== undefined) {
    failoverPriority?.forEach((label, index) => {
      if (TOPOLOGY_LABELS.has(label)) {
        report.error(`${at}.failoverPriority[${index}]`, label, "no topology label together with failover");
      }
    });
  }
  distribute?.forEach((rule, index) => {
    const to = `${at}.distribute[${index}].to`;
    let sum = 0;
    for (const [locality, weight] of Object.entries(rule.to)) {
      if (weight < 1 || weight > 100) report.error(joinPath(to, locality), weight, "a percentage, 1..100");
      sum += weight;
    }
    if (sum !== 100) report.error(to, sum, "percentages whose sum is 100");
    checkLocalities(Object.keys(rule.to), to, report);
  });
  checkLocalities((distribute ?? []).map((rule) => rule.from), `${at}.distribute`, report);
  if ((failover !== undefined || failoverPriority !== undefined) && !hasOutlierDetection) {
    report.warning(at, undefined, "outlierDetection beside it: failover needs to know which endpoints are unhealthy");
  }
  failover?.forEach((rule, index) => {
    const where = `${at}.failover[${index}]`;
    if (rule.from === rule.to) report.error(where, rule.from, "two different regions");
    for (const side of ["from", "to"] as const) {
      if (/[/*]/.test(rule[side])) report.error(`${where}.${side}`, rule[side], "a region (no zone, no wildcard)");
    }
  });
}

/** Most localities in one list: each is compared with all others. */
const MAX_LOCALITIES = 1000;

/** Localities must be well formed and must not cover each other. */
function checkLocalities(localities: readonly string[], at: string, report: Findings): void {
  if (localities.length > MAX_LOCALITIES) {
    report.error(at, localities.length, `at most ${MAX_LOCALITIES} localities`);
    return;
  }
  const seen: string[][] = [];
  for (const locality of localities) {
    const parts = splitLocality(locality);
    if (parts.includes("") || /\*./.test(locality)) {
      report.error(at, locality, "region[/zone[/subzone]], * only at the end");
      continue;
    }
    if (seen.some((other) => covers(other, parts) || covers(parts, other))) {
      report.error(at, locality, "localities that do not overlap");
    }
    seen.push(parts);
  }
}

/** At most three parts, as in Istio: the subzone is everything behind the second slash. */
function splitLocality(locality: string): string[] {
  const [region = "", zone, ...subzone] = locality.split("/");
  if (zone === undefined) return [region];
  return subzone.length === 0 ? [region, zone] : [region, zone, subzone.join("/")];
}

function covers(outer: readonly string[], inner: readonly string[]): boolean {
  return outer.every((part, index) => part === "*" || part === inner[index]);
}
