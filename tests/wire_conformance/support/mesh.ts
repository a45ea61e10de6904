/**
 * Small real resources, and their server.
 *
 * Permissions: net.
 * @module
 */
import { any, encode, TYPE_URL_PREFIX } from "../../../lib/pb/codec.ts";
import { type EncodedResource, encodeResource, type ResourceFacts } from "../../../lib/resource/encoded.ts";
import type { GrpcServerOptions } from "../../../lib/grpc/server.ts";
import { XdsServer, type XdsServerOptions } from "../../../lib/xds/server.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, VIRTUAL_HOST } from "../../../lib/xds/protocol/types.ts";
import type { MemorySource } from "../../xds/support/memory_source.ts";

/** Without a fetch timeout: a missing resource fails the test. */
const ADS = { ads: {}, resource_api_version: 2, initial_fetch_timeout: { seconds: 0 } };
const HCM = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

function resource(typeUrl: string, name: string, message: object, facts?: ResourceFacts): EncodedResource {
  return encodeResource(typeUrl, name, encode(typeUrl.slice(TYPE_URL_PREFIX.length), message), facts);
}

/** A cluster with endpoints by EDS. */
export function cluster(name: string, timeoutSeconds = 1): EncodedResource {
  return resource(CLUSTER, name, {
    name,
    type: 3,
    connect_timeout: { seconds: timeoutSeconds },
    eds_cluster_config: { eds_config: ADS, service_name: name },
  }, { warms: [name], causes: [`Service/default/${name}`] });
}

/** Endpoints of a cluster at ports of 127.0.0.1. */
export function endpoints(name: string, ...ports: number[]): EncodedResource {
  const lb_endpoints = ports.map((port_value) => ({
    endpoint: { address: { socket_address: { address: "127.0.0.1", port_value } } },
  }));
  return resource(ENDPOINTS, name, { cluster_name: name, endpoints: [{ lb_endpoints }] });
}

/** A listener on a free port with routes by RDS. */
export function listener(name: string, routes: string): EncodedResource {
  return resource(LISTENER, name, {
    name,
    address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
    filter_chains: [{
      filters: [{
        name: "envoy.filters.network.http_connection_manager",
        typed_config: any(HCM, {
          stat_prefix: name,
          rds: { route_config_name: routes, config_source: ADS },
          http_filters: [{
            name: "envoy.filters.http.router",
            typed_config: any("envoy.extensions.filters.http.router.v3.Router"),
          }],
        }),
      }],
    }],
  });
}

/** A listener that every Envoy refuses. */
export function badListener(name: string): EncodedResource {
  return resource(LISTENER, name, { name });
}

/** A virtual host with a direct response, or with a cluster. */
export function host(name: string, domain: string, answer: { text: string } | { cluster: string }) {
  const action = "text" in answer
    ? { direct_response: { status: 200, body: { inline_string: answer.text } } }
    : { route: { cluster: answer.cluster } };
  return { name, domains: [domain], routes: [{ match: { prefix: "/" }, ...action }] };
}

/** A route configuration with its virtual hosts inside. */
export function routes(name: string, ...hosts: object[]): EncodedResource {
  return resource(ROUTE, name, { name, virtual_hosts: hosts });
}

/** A route configuration with virtual hosts by VHDS. */
export function vhdsRoutes(name: string): EncodedResource {
  return resource(ROUTE, name, { name, vhds: { config_source: ADS } });
}

/**
 * A virtual host as a separate resource. Envoy removes virtual hosts by looking for the resource's name among the names
 * *in* the resources, so both must be the same.
 */
export function hostResource(route: string, message: { name: string }): EncodedResource {
  const name = `${route}/${message.name}`;
  return resource(VIRTUAL_HOST, name, { ...message, name });
}

/** A listening server; `port` 0 takes a free port. */
export async function serve(
  source: MemorySource,
  grpc: GrpcServerOptions = {},
  port = 0,
  options: Partial<XdsServerOptions> = {},
): Promise<{ server: XdsServer; port: number }> {
  const server = new XdsServer({ source, resources: source.table, grpc, ...options });
  const listening = await server.listen(`127.0.0.1:${port}`);
  return { server, port: listening.port };
}
