/**
 * Patches of a ProxyFilter whose operation does not fit what they patch, or depends on what other filters left there.
 *
 * @module
 */
import type { ApplyTo, ConfigPatch, PatchOperation } from "../../config/kinds/proxy_filter/types.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";

/** See the module. */
export const FILTER_OPERATIONS: Analyzer<"ProxyFilter"> = {
  kind: "ProxyFilter",
  reports: [
    "filter-replace-ignored",
    "filter-add-ignored",
    "filter-remove-ignored",
    "filter-order",
    "filter-order-by-version",
  ],
  analyze: ({ spec: { configPatches = [], priority = 0 } }, _read, report) => {
    const versioned = new Set<string>();
    for (const [at, config] of configPatches.entries()) {
      const field = `spec.configPatches[${at}].patch.operation`;
      const name = filterName(config);
      if (!isIgnored(config, field, report) && priority === 0) {
        reportOrder(config, field, name !== "" && versioned.has(name), report);
      }
      if (config.match?.proxy?.proxyVersion) versioned.add(name);
    }
  },
};

/** The name of the filter that a patch puts in, else of the one that it looks for. */
function filterName({ match, patch }: ConfigPatch): string {
  const written = patch?.value?.["name"];
  return typeof written === "string" ? written : match?.listener?.filterChain?.filter?.name ?? "";
}

const REPLACEABLE: readonly ApplyTo[] = ["NETWORK_FILTER", "HTTP_FILTER", "VIRTUAL_HOST"];
const FIXED: readonly ApplyTo[] = ["ROUTE_CONFIGURATION", "HTTP_ROUTE"];

/** Whether proxies never get the patch. */
function isIgnored({ applyTo, patch }: ConfigPatch, field: string, report: ReportMistake): boolean {
  const value = patch?.operation;
  if (value === "REPLACE" && !REPLACEABLE.includes(applyTo)) {
    const expected = `another operation for ${applyTo} (REPLACE is for ${REPLACEABLE.join(", ")})`;
    report("error", "filter-replace-ignored", { field, value, expected });
    return true;
  }
  if ((value !== "ADD" && value !== "REMOVE") || !FIXED.includes(applyTo)) return false;
  report("error", value === "ADD" ? "filter-add-ignored" : "filter-remove-ignored", {
    field,
    value,
    expected: `another operation for ${applyTo}, such as MERGE`,
  });
  return true;
}

const RELATIVE: readonly PatchOperation[] = ["INSERT_BEFORE", "INSERT_AFTER", "REMOVE", "REPLACE"];

function reportOrder({ patch }: ConfigPatch, field: string, byVersion: boolean, report: ReportMistake): void {
  if (patch === undefined || !RELATIVE.includes(patch.operation)) return;
  report("warning", byVersion ? "filter-order-by-version" : "filter-order", {
    field,
    value: patch.operation,
    expected: "a priority beside it, or INSERT_FIRST or ADD",
  });
}
