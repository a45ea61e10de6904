/**
 * Parity of findings about operations of ProxyFilters, in the spelling of Istio's users.
 *
 * @module
 */
import { object, type ParityCase } from "./case.ts";

const manager = { filterChain: { filter: { name: "envoy.filters.network.http_connection_manager" } } };

/** A patch of a filter. */
function patch(applyTo: string, operation: string, more: Readonly<Record<string, unknown>> = {}) {
  const value = operation === "REMOVE" ? {} : { value: { name: "x" } };
  return { applyTo, match: { context: "SIDECAR_INBOUND", ...more }, patch: { operation, ...value } };
}

function filter(name: string, priority: number, ...configPatches: readonly unknown[]) {
  return object("EnvoyFilter", `shop/${name}`, { ...(priority === 0 ? {} : { priority }), configPatches });
}

const version = { proxy: { proxyVersion: "^1\\.11.*" } };

/** Cases of ProxyFilters. Istio's analyzer calls added or removed routes ignored, too; Istio's server adds and removes routes. */
export const FILTERS_OF_PEER: readonly ParityCase[] = [
  {
    about: "operations that depend on other filters, or that nothing can be done with",
    codes: ["MSH0151", "MSH0152", "MSH0153", "MSH0154"],
    input: [
      filter("before", 0, patch("HTTP_FILTER", "INSERT_BEFORE", { listener: manager })),
      filter("after", 0, patch("HTTP_FILTER", "INSERT_AFTER", { listener: manager })),
      filter("first", 0, patch("HTTP_FILTER", "INSERT_FIRST", { listener: manager })),
      filter("before-with-priority", 10, patch("HTTP_FILTER", "INSERT_BEFORE", { listener: manager })),
      filter("replace-cluster", 10, patch("CLUSTER", "REPLACE")),
      filter("replace-filter", 10, patch("HTTP_FILTER", "REPLACE", { listener: manager })),
      filter("add-filter", 0, patch("HTTP_FILTER", "ADD")),
      filter("add-routes", 0, patch("ROUTE_CONFIGURATION", "ADD")),
      filter("remove-filter", 0, patch("NETWORK_FILTER", "REMOVE", { listener: manager })),
      filter("remove-routes", 0, patch("ROUTE_CONFIGURATION", "REMOVE")),
    ],
    expected: [
      "MSH0151 EnvoyFilter shop/after",
      "MSH0151 EnvoyFilter shop/before",
      "MSH0151 EnvoyFilter shop/remove-filter",
      "MSH0152 EnvoyFilter shop/replace-cluster",
      "MSH0153 EnvoyFilter shop/add-routes",
      "MSH0154 EnvoyFilter shop/remove-routes",
    ],
  },
  {
    about: "a filter that is patched again, first for one version of the proxy",
    codes: ["MSH0155"],
    input: [
      filter(
        "versions",
        0,
        patch("HTTP_FILTER", "INSERT_AFTER", { ...version, listener: manager }),
        patch("HTTP_FILTER", "INSERT_AFTER", { listener: manager }),
      ),
      filter("one-version", 0, patch("HTTP_FILTER", "ADD", version)),
    ],
    expected: ["MSH0155 EnvoyFilter shop/versions"],
  },
];
