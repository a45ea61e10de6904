/**
 * Patches that look for a filter that no proxy has: a filter of Istio's own Envoy, or a name that Envoy gave up.
 *
 * @module
 */
import type { ConfigPatch } from "../../config/kinds/proxy_filter/schema.ts";
import type { Analyzer } from "../analyzer.ts";

/** Reports such patches. A filter added by another patch of the same object may have any name. */
export const FILTER_NAMES: Analyzer<"ProxyFilter"> = {
  kind: "ProxyFilter",
  reports: ["filter-of-no-proxy"],
  analyze: ({ spec: { configPatches = [] } }, _read, report) => {
    const own = new Set(configPatches.map(({ patch }) => patch?.value?.["name"]));
    for (const [at, { match }] of configPatches.entries()) {
      for (const [path, value] of soughtNames(match)) {
        const expected = own.has(value) ? undefined : nameNow(value);
        const field = `spec.configPatches[${at}].match.listener.${path}`;
        if (expected !== undefined) report("warning", "filter-of-no-proxy", { field, value, expected });
      }
    }
  },
};

/** Names of filters in a match, with their paths. */
function soughtNames(match: ConfigPatch["match"]): [path: string, name: string][] {
  const { listenerFilter, filterChain: { filter } = {} } = match?.listener ?? {};
  const names: [string, string | undefined][] = [
    ["listenerFilter", listenerFilter],
    ["filterChain.filter.name", filter?.name],
    ["filterChain.filter.subFilter.name", filter?.subFilter?.name],
  ];
  return names.flatMap(([path, name]) => name === undefined ? [] : [[path, name]]);
}

/** The expectation for a name that no filter has; undefined: some filter may have the name. */
function nameNow(name: string): string | undefined {
  if (OF_ISTIO.test(name)) return "a filter that stock Envoy has (of metrics, what a Telemetry says)";
  const now = SUCCESSORS[name];
  return now && `${now}, its name now`;
}

/** Filters known only to Istio's Envoy. */
const OF_ISTIO = /^(?:istio[._]|(?:envoy\.filters\.(?:http|network)\.)?(?:peer_metadata|metadata_exchange)$)/;

const HTTP = "envoy.filters.http.";
const NETWORK = "envoy.filters.network.";
const LISTENER = "envoy.filters.listener.";

/** The present names of filters, by the names before Envoy 1.14. */
const SUCCESSORS: Readonly<Record<string, string>> = {
  "envoy.router": `${HTTP}router`,
  "envoy.cors": `${HTTP}cors`,
  "envoy.fault": `${HTTP}fault`,
  "envoy.lua": `${HTTP}lua`,
  "envoy.ext_authz": `${HTTP}ext_authz`,
  "envoy.rate_limit": `${HTTP}ratelimit`,
  "envoy.buffer": `${HTTP}buffer`,
  "envoy.grpc_web": `${HTTP}grpc_web`,
  "envoy.http_connection_manager": `${NETWORK}http_connection_manager`,
  "envoy.tcp_proxy": `${NETWORK}tcp_proxy`,
  "envoy.mongo_proxy": `${NETWORK}mongo_proxy`,
  "envoy.redis_proxy": `${NETWORK}redis_proxy`,
  "envoy.ratelimit": `${NETWORK}ratelimit`,
  "envoy.listener.tls_inspector": `${LISTENER}tls_inspector`,
  "envoy.listener.http_inspector": `${LISTENER}http_inspector`,
  "envoy.listener.original_dst": `${LISTENER}original_dst`,
  "envoy.listener.proxy_protocol": `${LISTENER}proxy_protocol`,
};
