/**
 * `/debug/config_dump`: all that one proxy should have, in the shape of Envoy's own dump.
 *
 * @module
 */
import { TYPE_URL_PREFIX } from "../pb/codec.ts";
import { readable } from "../pb/reflect.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import type { ResourceSet } from "../resource/set.ts";
import type { ProxyView } from "../xds/protocol/source.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "../xds/protocol/types.ts";
import { type HttpRequest, type HttpResponse, jsonResponse, textResponse } from "../http/message.ts";
import { chosenProxy, isAnswer } from "./select.ts";
import type { DebugView } from "./view.ts";

const BY_SHORT: Readonly<Record<string, string>> = { cds: CLUSTER, lds: LISTENER, rds: ROUTE, eds: ENDPOINTS };

/** The page. `types=cds,lds` gives a flat list of these; `include_eds` adds endpoints to the whole dump. */
export function configDump(request: HttpRequest, view: DebugView): HttpResponse {
  const connection = chosenProxy(request, view);
  if (isAnswer(connection)) return connection;
  const proxy = connection.stream?.view;
  if (!proxy) return jsonResponse({}, request);
  const types = request.query.get("types");
  if (types !== null) {
    const shorts = types.split(",").map((short) => short.trim());
    const unknown = shorts.filter((short) => !Object.hasOwn(BY_SHORT, short));
    if (unknown.length > 0) {
      return textResponse(
        400,
        `query types: got ${unknown.join(", ")}, expected some of ${Object.keys(BY_SHORT).join(", ")}\n`,
      );
    }
    const urls = shorts.map((short) => BY_SHORT[short]!);
    return jsonResponse({ resources: urls.flatMap((url) => decoded(proxy, url)) }, request);
  }
  const part = (name: string, rest: Record<string, unknown>) => ({
    "@type": `${TYPE_URL_PREFIX}envoy.admin.v3.${name}`,
    ...rest,
  });
  const configs = [
    part("ClustersConfigDump", { dynamic_active_clusters: decoded(proxy, CLUSTER).map((cluster) => ({ cluster })) }),
    part("ListenersConfigDump", {
      dynamic_listeners: decoded(proxy, LISTENER).map((listener) => ({
        name: listener.name,
        active_state: { listener },
      })),
    }),
    part("RoutesConfigDump", {
      dynamic_route_configs: decoded(proxy, ROUTE).map((route_config) => ({
        route_config: withHosts(proxy, route_config),
      })),
    }),
  ];
  if (request.query.has("include_eds")) {
    const endpoints = decoded(proxy, ENDPOINTS).map((endpoint_config) => ({ endpoint_config }));
    configs.splice(1, 0, part("EndpointsConfigDump", { dynamic_endpoint_configs: endpoints }));
  }
  return jsonResponse({ configs }, request);
}

/** Virtual hosts that go one by one are shown where Envoy has them: in their route configuration. */
function withHosts(proxy: ProxyView, route: Record<string, unknown>): Record<string, unknown> {
  const hosts = proxy.virtualHosts(String(route.name)).flatMap(all).map((r) => open(r));
  if (hosts.length === 0 || route.vhds === undefined) return route;
  return { ...route, virtual_hosts: [...route.virtual_hosts as unknown[] ?? [], ...hosts] };
}

/** The resources of a type that a proxy should have, readable, by name. */
export function decoded(proxy: ProxyView, typeUrl: string): Record<string, unknown>[] {
  const resources = new Map<string, EncodedResource>();
  for (const set of proxy.layers(typeUrl) ?? []) for (const resource of set) resources.set(resource.name, resource);
  return [...resources.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(open);
}

function open(resource: EncodedResource): Record<string, unknown> {
  return readable(resource.typeUrl.slice(TYPE_URL_PREFIX.length), resource.value);
}

function all(set: ResourceSet): EncodedResource[] {
  return [...set].sort((a, b) => (a.name < b.name ? -1 : 1));
}
