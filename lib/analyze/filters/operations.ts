/**
 * Patches of a ProxyFilter whose operation does not fit the target, or depends on the results of other filters.
 *
 * @module
 */
import type { ApplyTo, ConfigPatch, PatchOperation } from "../../config/kinds/proxy_filter/schema.ts";
import type { FindingName } from "../../finding/codes.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";

export const FILTER_OPERATIONS: Analyzer<"ProxyFilter"> = {
  kind: "ProxyFilter",
  reports: [
    "filter-replace-ignored",
    "filter-add-ignored",
    "filter-remove-ignored",
    "filter-without-effect",
    "filter-route-last",
    "filter-behind-terminal",
    "filter-order",
    "filter-order-by-version",
  ],
  analyze: ({ spec: { configPatches = [], priority = 0 } }, _read, report) => {
    const versioned = new Set<string>();
    const removed = new Set(configPatches.filter(({ patch }) => patch?.operation === "REMOVE").map(soughtFilter));
    for (const [at, config] of configPatches.entries()) {
      const field = `spec.configPatches[${at}].patch.operation`;
      const name = filterName(config);
      reportBehind(config, field, removed, report);
      if (!isIgnored(config, field, report) && priority === 0) {
        reportOrder(config, field, name !== "" && versioned.has(name), report);
      }
      if (config.match?.proxy?.proxyVersion) versioned.add(name);
    }
  },
};

/** The name of the filter that a patch adds, or else the name of the sought filter. */
function filterName({ match, patch }: ConfigPatch): string {
  const written = patch?.value?.["name"];
  return typeof written === "string" ? written : match?.listener?.filterChain?.filter?.name ?? "";
}

/** Filters at the end of a list. Envoy accepts no filter after such a filter. */
const TERMINAL = {
  HTTP_FILTER: ["envoy.filters.http.router"],
  NETWORK_FILTER: ["envoy.filters.network.http_connection_manager", "envoy.filters.network.tcp_proxy"],
} as const;

/** The name of the filter that a patch looks for. */
function soughtFilter({ applyTo, match }: ConfigPatch): string {
  const filter = match?.listener?.filterChain?.filter;
  return (applyTo === "HTTP_FILTER" ? filter?.subFilter?.name : filter?.name) ?? "";
}

/** Reports a filter added after the last filter, unless a patch of the object removes the last filter. */
function reportBehind(config: ConfigPatch, field: string, removed: ReadonlySet<string>, report: ReportMistake): void {
  const { applyTo, patch } = config;
  const value = patch?.operation;
  if (applyTo !== "HTTP_FILTER" && applyTo !== "NETWORK_FILTER") return;
  const terminals: readonly string[] = TERMINAL[applyTo];
  const sought = soughtFilter(config);
  const isBehind = value === "ADD" || (value === "INSERT_AFTER" && (sought === "" || terminals.includes(sought)));
  if (!isBehind || terminals.some((name) => removed.has(name))) return;
  const expected = `INSERT_BEFORE with the name of the last filter (${terminals.join(" or ")}), or INSERT_FIRST`;
  report("error", "filter-behind-terminal", { field, value, expected });
}

const REPLACEABLE: readonly ApplyTo[] = ["LISTENER_FILTER", "NETWORK_FILTER", "HTTP_FILTER", "VIRTUAL_HOST"];

/** Targets whose patches can be inserted at a position. For other targets, inserting means adding. */
const ORDERED: readonly ApplyTo[] = ["LISTENER_FILTER", "NETWORK_FILTER", "HTTP_FILTER", "HTTP_ROUTE"];

/** The only operation that works on each of these targets. */
const SOLE: { readonly [A in ApplyTo]?: PatchOperation } = {
  ROUTE_CONFIGURATION: "MERGE",
  EXTENSION_CONFIG: "ADD",
};

/** Whether proxies never get the patch. */
function isIgnored(config: ConfigPatch, field: string, report: ReportMistake): boolean {
  const { applyTo, patch } = config;
  const value = patch?.operation;
  if (value === undefined || value === "INVALID") return false;
  if (applyTo === "BOOTSTRAP") {
    report("error", "filter-without-effect", { field, value, expected: "something that proxies ask the server for" });
    return true;
  }
  const sole = SOLE[applyTo];
  const done = value.startsWith("INSERT_") && !ORDERED.includes(applyTo) ? "ADD" : value;
  const works = sole === undefined ? value !== "REPLACE" || REPLACEABLE.includes(applyTo) : done === sole;
  if (works) return hasNoPlace(config, field, report);
  const expected = sole === undefined
    ? `another operation for ${applyTo} (REPLACE is for ${REPLACEABLE.join(", ")})`
    : `${sole} for ${applyTo}`;
  report("error", IGNORED[done] ?? "filter-without-effect", { field, value, expected });
  return true;
}

const IGNORED: { readonly [O in PatchOperation]?: FindingName } = {
  REPLACE: "filter-replace-ignored",
  ADD: "filter-add-ignored",
  REMOVE: "filter-remove-ignored",
};

/**
 * Whether a patch replaces or removes a filter without naming the filter. For an added route, reports that the added
 * route is the last route.
 */
function hasNoPlace({ applyTo, match, patch }: ConfigPatch, field: string, report: ReportMistake): boolean {
  const value = patch!.operation;
  if (applyTo === "HTTP_ROUTE" && value === "ADD") {
    const expected = "INSERT_FIRST or INSERT_BEFORE: the added route comes behind the route that takes all requests";
    report("warning", "filter-route-last", { field, value, expected });
  }
  if (value !== "REPLACE" && value !== "REMOVE") return false;
  const { listenerFilter, filterChain } = match?.listener ?? {};
  const sought = {
    LISTENER_FILTER: listenerFilter,
    NETWORK_FILTER: filterChain?.filter,
    HTTP_FILTER: filterChain?.filter?.subFilter,
  };
  const finds = applyTo in sought && !sought[applyTo as keyof typeof sought];
  if (finds) {
    report("error", "filter-without-effect", { field, value, expected: `a match that names the filter to ${value}` });
  }
  return finds;
}

const RELATIVE: readonly PatchOperation[] = ["INSERT_BEFORE", "INSERT_AFTER", "REMOVE", "REPLACE"];

function reportOrder({ patch }: ConfigPatch, field: string, byVersion: boolean, report: ReportMistake): void {
  if (patch === undefined || !RELATIVE.includes(patch.operation)) return;
  report("warning", byVersion ? "filter-order-by-version" : "filter-order", {
    field,
    value: patch.operation,
    expected: "a priority in the object, or operation INSERT_FIRST",
  });
}
