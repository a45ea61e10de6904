/**
 * Operations of ProxyFilters.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** The rows, by sort. */
export const FILTERS = {
  "filter-order": {
    code: "MSH0151",
    title: "patch depends on other filters",
    meaning: "A ProxyFilter without priority has an operation that may need the result of another ProxyFilter.",
    effect: "If the other ProxyFilter comes later, or never, the patch does nothing.",
    fix: "Write a priority, or use INSERT_FIRST.",
  },
  "filter-replace-ignored": {
    code: "MSH0152",
    title: "REPLACE has no effect here",
    meaning: "A patch has operation REPLACE for something that cannot be replaced.",
    effect: "The patch does nothing.",
    fix: "Use MERGE, or REMOVE and ADD.",
  },
  "filter-add-ignored": {
    code: "MSH0153",
    title: "ADD has no effect here",
    meaning: "A patch has operation ADD for route configurations.",
    effect: "The patch does nothing.",
    fix: "Use MERGE.",
  },
  "filter-remove-ignored": {
    code: "MSH0154",
    title: "REMOVE has no effect here",
    meaning: "A patch has operation REMOVE for route configurations or configurations of extensions.",
    effect: "The patch does nothing.",
    fix: "Change the object that makes the resource, or use MERGE for a route configuration.",
  },
  "filter-order-by-version": {
    code: "MSH0155",
    title: "patch depends on the proxy's version",
    meaning:
      "A ProxyFilter without priority patches a filter twice, and the earlier patch is for one version of the proxy.",
    effect: "During an upgrade of the proxies the later patch may find nothing to act on.",
    fix: "Write a priority, or use INSERT_FIRST.",
  },
  "filter-without-effect": {
    code: "MSH1031",
    title: "patch that no proxy gets",
    meaning:
      "A patch is for the bootstrap, has an operation without effect on its target, or names no filter to remove.",
    effect: "The patch does nothing.",
    fix: "Change the operation or the match. Bootstraps are changed where the proxy starts.",
  },
  "filter-of-no-proxy": {
    code: "MSH1034",
    title: "patch of a filter that no proxy has",
    meaning: "A patch looks for a filter by a name that stock Envoy never had, or has no longer.",
    effect: "The patch finds nothing, unless another object adds a filter of that name.",
    fix: "Use the filter's present name; for metrics and traces use a Telemetry.",
  },
  "filter-behind-terminal": {
    code: "MSH0215",
    title: "filter behind the last one",
    meaning:
      "A patch puts a filter behind the last filter of its list: the router, the connection manager or the TCP proxy.",
    effect:
      "Envoy rejects the listener. Proxies keep their last version, or get the listener without the object. If the filter may refuse requests, they get a listener that lets nothing in.",
    fix: "Use INSERT_BEFORE with the name of the last filter, or INSERT_FIRST.",
  },
  "filter-route-last": {
    code: "MSH1032",
    title: "route behind all others",
    meaning: "A patch adds a route at the end of a virtual host.",
    effect: "The last route usually takes all requests, so the added route takes none.",
    fix: "Use INSERT_FIRST, or INSERT_BEFORE with a match.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
