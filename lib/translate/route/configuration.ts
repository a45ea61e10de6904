/**
 * Route configurations of sidecars: the fields around the virtual hosts.
 *
 * @module
 */
import { ApiVersion } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { duration, wrap } from "../../pb/wellknown.ts";
import type { Built } from "../message/built.ts";
import type { InboundTarget } from "../inbound/target.ts";
import type { Reader } from "../reader/reader.ts";
import { ALLOW_ANY, BLOCK_ALL } from "../message/unknown_hosts.ts";
import { defaultInboundRoute } from "./default_route.ts";
import { routeTarget } from "./destination.ts";
import { virtualHostName } from "./domains.ts";
import { isOfOneHost, tellsPortsApart } from "./placement.ts";

type VirtualHost = envoy.config.route.v3.VirtualHost;
type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;

/** Cluster that passes requests on to the dialled address. */
const PASSTHROUGH_CLUSTER = "PassthroughCluster";

/** Limit of a direct response's body, bytes. Envoy's own limit is 4 KiB. Validation accepts bodies up to this limit. */
const MAX_DIRECT_RESPONSE_BYTES = 1024 * 1024;

/**
 * An outbound route configuration.
 *
 * @param name `8080`, `host:8080` (a sniffed port), `http_proxy`, `unix:///path`.
 * @param virtualHosts Virtual hosts to include, or `vhds`: the proxy gets virtual hosts one by one as resources
 * `<name>/<virtual host>`. Absent: `vhds` if the proxy supports VHDS, else none.
 */
export function sidecarRouteConfiguration(
  read: Reader,
  name: string,
  virtualHosts: readonly VirtualHost[] | "vhds" = read.property("vhds") ? "vhds" : [],
): Built<RouteConfiguration> {
  const inline = virtualHosts === "vhds" ? [] : [...virtualHosts].sort((a, b) => a.name! < b.name! ? -1 : 1);
  const message: RouteConfiguration = {
    name,
    virtual_hosts: isOfOneHost(name) ? inline : [...inline, catchAllVirtualHost(read)],
    validate_clusters: wrap(false),
    max_direct_response_body_size_bytes: wrap(MAX_DIRECT_RESPONSE_BYTES),
    ...(tellsPortsApart(read, name) ? {} : { ignore_port_in_host_matching: true }),
    ...(virtualHosts === "vhds" ? { vhds: { config_source: { ads: {}, resource_api_version: ApiVersion.V3 } } } : {}),
  };
  return { message, causes: [] };
}

/** The virtual host for requests to unknown hosts: passed on as dialled, sent to the egress proxy, or refused. */
function catchAllVirtualHost(read: Reader): VirtualHost {
  const { mode, egressProxy } = read.outboundTrafficPolicy();
  const attempts = read.proxyHeaders()?.attemptCount?.disabled ? {} : { include_request_attempt_count: true };
  const match = { prefix: "/" };
  if (mode !== "ALLOW_ANY") {
    const refuse = { name: BLOCK_ALL, match, direct_response: { status: 502 } };
    return { name: BLOCK_ALL, domains: ["*"], routes: [refuse], ...attempts };
  }
  const cluster = egressProxy ? routeTarget(read, egressProxy, 0).cluster : PASSTHROUGH_CLUSTER;
  const pass = {
    name: ALLOW_ANY,
    match,
    route: { cluster, timeout: duration(0) },
  };
  return { name: ALLOW_ANY, domains: ["*"], routes: [pass], ...attempts };
}

/**
 * The route configuration of an inbound port: everything goes to the workload.
 *
 * @param clusterName The inbound cluster; also the configuration's name.
 */
export function inboundRouteConfiguration(target: InboundTarget, clusterName: string): RouteConfiguration {
  const { servicePort, service, sidecar } = target;
  // Without a known service, spans are named after the Sidecar, `name.namespace`.
  const host = service?.hostname ?? sidecar?.split("/").reverse().join(".") ?? "";
  const operation = `${virtualHostName(host, servicePort.port)}/*`;
  return {
    name: clusterName,
    virtual_hosts: [{
      name: `inbound|http|${servicePort.port}`,
      domains: ["*"],
      routes: [defaultInboundRoute(clusterName, operation, servicePort.protocol)],
    }],
    validate_clusters: wrap(false),
  };
}
