/**
 * Static listeners of a proxy: the proxy's own metrics, and readiness.
 *
 * @module
 */
import { PROXY_METRICS_PATH } from "../scrape/proxy_metrics.ts";
import { type EnvoyJson, tcpAddress, typed } from "./envoy_json.ts";
import type { BootstrapFamilies } from "./families.ts";

/** Compressions of the page of metrics. */
export const METRICS_COMPRESSIONS = ["gzip", "brotli", "zstd"] as const;

/** Ports of the listeners, and the compression of metrics for clients that accept compression. */
export interface StaticListenerInput {
  readonly families: BootstrapFamilies;
  readonly metricsPort: number;
  /** Only clients of this machine get metrics. */
  readonly metricsLocalOnly: boolean;
  readonly readinessPort: number;
  readonly compression: string | undefined;
}

export function staticListeners(input: StaticListenerInput): EnvoyJson[] {
  const { families, metricsPort, readinessPort, compression } = input;
  return [
    forwarding(input.metricsLocalOnly ? loopbackOf(families) : families, metricsPort, {
      stat_prefix: "stats",
      path: "/stats/prometheus",
      cluster: "agent",
      rewrite: PROXY_METRICS_PATH,
      filters: compressor(compression),
    }),
    forwarding(families, readinessPort, {
      stat_prefix: "agent",
      path: "/healthz/ready",
      cluster: "agent",
      filters: [],
    }),
  ];
}

type ListenFamilies = Pick<BootstrapFamilies, "wildcard" | "otherWildcard">;

/** The loopback addresses in place of all addresses. */
function loopbackOf({ localhost, otherWildcard }: BootstrapFamilies): ListenFamilies {
  const other = otherWildcard === undefined ? undefined : otherWildcard === "::" ? "::1" : "127.0.0.1";
  return { wildcard: localhost, otherWildcard: other };
}

interface Forwarding {
  readonly stat_prefix: string;
  readonly path: string;
  readonly cluster: string;
  readonly filters: readonly EnvoyJson[];
  /** The path at the cluster; absent: the same. */
  readonly rewrite?: string;
}

function forwarding({ wildcard, otherWildcard }: ListenFamilies, port: number, to: Forwarding): EnvoyJson {
  const router = {
    name: "envoy.filters.http.router",
    typed_config: typed("envoy.extensions.filters.http.router.v3.Router"),
  };
  const manager = typed("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", {
    codec_type: "AUTO",
    stat_prefix: to.stat_prefix,
    route_config: {
      virtual_hosts: [{
        name: "backend",
        domains: ["*"],
        routes: [{
          match: { prefix: to.path },
          route: { cluster: to.cluster, ...(to.rewrite === undefined ? {} : { prefix_rewrite: to.rewrite }) },
        }],
      }],
    },
    http_filters: [...to.filters, router],
  });
  return {
    name: `${wildcard}_${port}`,
    address: tcpAddress(wildcard, port),
    ...(otherWildcard === undefined ? {} : { additional_addresses: [{ address: tcpAddress(otherWildcard, port) }] }),
    filter_chains: [{ filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }] }],
    // A drain of the inbound listeners must leave readiness and metrics alone.
    traffic_direction: "UNSPECIFIED",
  };
}

const LIBRARIES: Readonly<Record<string, string>> = { gzip: "Gzip", brotli: "Brotli", zstd: "Zstd" };

function compressor(name: string | undefined): EnvoyJson[] {
  const library = LIBRARIES[name ?? ""];
  if (library === undefined) return [];
  const compressor_library = {
    name: "metrics",
    typed_config: typed(`envoy.extensions.compression.${name}.compressor.v3.${library}`),
  };
  return [{
    name: "envoy.filters.http.compressor",
    typed_config: typed("envoy.extensions.filters.http.compressor.v3.Compressor", { compressor_library }),
  }];
}
