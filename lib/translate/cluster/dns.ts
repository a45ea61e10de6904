/**
 * Clusters whose endpoints the proxy finds by DNS: names of endpoints (`strictDns`, `logicalDns`), or the host in a
 * request (`dynamicDns`).
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { Cluster_DnsLookupFamily as Family, DnsLookupFamily } from "../../../proto/gen/enums.ts";
import { any } from "../../pb/codec.ts";
import { duration, wrap } from "../../pb/wellknown.ts";
import type { DestinationPlan } from "../destination/plan.ts";
import { type Group, localityLbEndpoints } from "../endpoint/group.ts";
import { resolvedByProxy } from "../endpoint/assignment.ts";
import type { Reader } from "../reader/reader.ts";
import type { TranslateSettings } from "../reader/settings.ts";

type Cluster = envoy.config.cluster.v3.Cluster;
type DnsCacheConfig = envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig;

/**
 * Discovery fields of a cluster whose endpoints have names. Undefined without an endpoint, because Envoy refuses such a
 * cluster. The cluster type `envoy.cluster.dns` replaces the fields `STRICT_DNS`, `LOGICAL_DNS`, `dns_refresh_rate`,
 * `dns_jitter` and `respect_dns_ttl`: Envoy 1.40 warns of each of these fields and will drop them.
 */
export function dnsDiscovery(
  read: Reader,
  d: DestinationPlan,
  groups: readonly Group[] = resolvedByProxy(read, d),
): Cluster | undefined {
  const first = groups[0];
  if (first === undefined) return undefined;
  const single = d.discovery === "logicalDns";
  // This cluster type can resolve only one name, so further endpoints of the service are not used.
  const used = single ? [{ ...first, members: first.members.slice(0, 1) }] : groups;
  return {
    cluster_type: {
      name: "envoy.cluster.dns",
      typed_config: any("envoy.extensions.clusters.dns.v3.DnsCluster", {
        dns_refresh_rate: duration(read.mesh().dnsRefreshRate),
        dns_jitter: duration(read.settings.dnsJitterMs),
        respect_dns_ttl: true,
        dns_lookup_family: DnsLookupFamily[family(read)],
        typed_dns_resolver_config: resolver(read.settings),
        ...(single && { all_addresses_in_single_endpoint: true }),
      }),
    },
    load_assignment: { cluster_name: d.name, endpoints: used.map(localityLbEndpoints) },
  };
}

/**
 * Discovery fields of a cluster that resolves the host of each request: the authority, or the SNI of a TLS connection.
 * Envoy 1.40 looks up hosts of requests in the cluster itself, without a filter. Routes set the port
 * (lib/translate/route/dialled_by_name.ts). A passed-through TLS connection does not wait for the cluster's lookup, so
 * the listener's filter `envoy.filters.network.sni_dynamic_forward_proxy` looks up the SNI first and sets the port.
 *
 * @param insecure Whether the server's name is not checked against the host. Envoy requires this to be explicit.
 */
export function dynamicDnsDiscovery(read: Reader, insecure: boolean): Cluster {
  return {
    cluster_type: {
      name: "envoy.clusters.dynamic_forward_proxy",
      typed_config: any("envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig", {
        dns_cache_config: dynamicDnsCache(read),
        ...(insecure && { allow_insecure_cluster_options: true }),
      }),
    },
  };
}

/**
 * The cache of hosts in requests. All such clusters and filters share one cache, because Envoy refuses two forms under
 * the same name.
 */
export function dynamicDnsCache(read: Reader): DnsCacheConfig {
  return {
    name: "dynamic-dns",
    dns_lookup_family: Family[family(read)],
    dns_refresh_rate: duration(read.mesh().dnsRefreshRate),
    typed_dns_resolver_config: resolver(read.settings),
  };
}

/** IP versions that the proxy can dial. A proxy with both versions uses IPv4 only, unless dual-stack is on. */
function family(read: Reader): "V4_ONLY" | "V6_ONLY" | "ALL" {
  const { dualStack, enableIpv4OutboundListenerForIpv6Clusters: ipv4BesideIpv6 } = read.settings;
  return read.derived("dnsFamily", ({ ipv4, ipv6 }) => {
    if (ipv4 && ipv6) return dualStack ? "ALL" : "V4_ONLY";
    if (!ipv6) return "V4_ONLY";
    return ipv4BesideIpv6 ? "ALL" : "V6_ONLY";
  });
}

function resolver(settings: TranslateSettings): envoy.config.core.v3.TypedExtensionConfig {
  return {
    name: "envoy.network.dns_resolver.cares",
    typed_config: any("envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig", {
      udp_max_queries: wrap(settings.dnsCaresUdpMaxQueries),
    }),
  };
}
