/**
 * `/debug/config_dump`: all that one proxy should have, as Envoy's admin page of that name prints it.
 *
 * What only Envoy knows is not there: its bootstrap, when it took a resource, and the state that it adds to endpoints.
 *
 * @module
 */
import { z } from "zod";
import { TYPE_URL_PREFIX } from "../pb/codec.ts";
import { anyJson } from "../pb/json.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import { stackDigest } from "../xds/ads/set_stack.ts";
import type { Watch } from "../xds/ads/watch.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, SECRET, VIRTUAL_HOST } from "../xds/protocol/types.ts";
import { type HttpResponse, jsonResponse } from "../http/message.ts";
import { queried, SWITCH } from "./query.ts";
import { resourcesOf, virtualHostsOf } from "./resources.ts";
import { chosenProxy, isAnswer, PROXY_ID } from "./select.ts";

type Json = Record<string, unknown>;

const BY_SHORT: Readonly<Record<string, string>> = {
  cds: CLUSTER,
  lds: LISTENER,
  rds: ROUTE,
  eds: ENDPOINTS,
  sds: SECRET,
};

const TYPES_EXPECTED = `some of ${Object.keys(BY_SHORT).join(", ")}, with commas between them`;

const QUERY = z.object({
  proxyID: PROXY_ID,
  types: z.string().transform((text) => text.split(",").map((short) => short.trim()))
    .refine((shorts) => shorts.every((short) => Object.hasOwn(BY_SHORT, short)), { error: TYPES_EXPECTED })
    .optional(),
  include_eds: SWITCH,
});

/** The page. `types=cds,lds` gives a flat list of these; `include_eds` adds endpoints to the whole dump. */
export const configDump = queried(QUERY, (request, view, { proxyID, types, include_eds }): HttpResponse => {
  const connection = chosenProxy(proxyID, view);
  if (isAnswer(connection)) return connection;
  if (types === undefined) return jsonResponse({ configs: sections(connection, include_eds) }, request);
  const resources = types.flatMap((short) => resourcesOf(connection, BY_SHORT[short]!).map(shown));
  return jsonResponse({ resources }, request);
});

/** The parts of a dump in Envoy's order. */
function sections(connection: XdsConnection, withEndpoints: boolean): Json[] {
  const of = (typeUrl: string) => new TypeDump(connection, typeUrl);
  const clusters = of(CLUSTER);
  const listeners = of(LISTENER);
  const routes = of(ROUTE);
  const listed = listeners.entries("listener");
  return [
    part("ClustersConfigDump", {
      ...clusters.version,
      dynamic_active_clusters: clusters.entries("cluster").map(unnamed),
    }),
    ...(withEndpoints ? [part("EndpointsConfigDump", { dynamic_endpoint_configs: endpointConfigs(connection) })] : []),
    part("ListenersConfigDump", {
      ...listeners.version,
      dynamic_listeners: listed.map(({ name, error_state, ...active_state }) => ({
        name,
        active_state,
        error_state,
      })),
    }),
    part("ScopedRoutesConfigDump", {}),
    part("RoutesConfigDump", {
      static_route_configs: listed.flatMap(({ listener }) => inlineRoutes(listener)).map((route_config) => ({
        route_config: { "@type": ROUTE, ...route_config },
      })),
      dynamic_route_configs: routes.entries("route_config").map((entry) => withHosts(connection, entry)).map(unnamed),
    }),
    part("SecretsConfigDump", { dynamic_active_secrets: of(SECRET).entries("secret") }),
  ];
}

/** A part; empty lists are left out, as Envoy does. */
function part(name: string, rest: Json): Json {
  const filled = Object.entries(rest).filter(([, value]) => !Array.isArray(value) || value.length > 0);
  return { "@type": `${TYPE_URL_PREFIX}envoy.admin.v3.${name}`, ...Object.fromEntries(filled) };
}

/** One type in a dump. */
class TypeDump {
  readonly #connection: XdsConnection;
  readonly #typeUrl: string;
  readonly #watch: Watch | undefined;

  constructor(connection: XdsConnection, typeUrl: string) {
    this.#connection = connection;
    this.#typeUrl = typeUrl;
    this.#watch = connection.stream?.watches.get(typeUrl);
  }

  /** The version of the type as a whole; none while the client does not ask for it. */
  get version(): { readonly version_info?: string } {
    return this.#watch === undefined ? {} : { version_info: stackDigest(this.#watch.resources.want) };
  }

  /**
   * The resources, each in a field of this name. A delta client has a version for each, another one that of the whole.
   */
  entries(field: string): Json[] {
    const blamed = new Set(this.#watch?.resources.blamed);
    const whole = this.#connection.delta ? undefined : this.version.version_info;
    return resourcesOf(this.#connection, this.#typeUrl).map((resource) => ({
      name: resource.name,
      version_info: whole ?? resource.version,
      [field]: shown(resource),
      ...(blamed.has(resource) ? { error_state: { details: this.#watch?.resources.lastError } } : {}),
    }));
  }
}

function unnamed({ name: _, ...rest }: Json): Json {
  return rest;
}

/** Endpoints as they were sent: Envoy adds health and defaults, and shows those of clusters that hold their own. */
function endpointConfigs(connection: XdsConnection): Json[] {
  return resourcesOf(connection, ENDPOINTS).map((resource) => ({ endpoint_config: shown(resource) }));
}

/** Virtual hosts that go one by one are shown where Envoy has them: in their route configuration, whose version they make. */
function withHosts(connection: XdsConnection, entry: Json): Json {
  const route = entry.route_config as Json;
  const hosts = virtualHostsOf(connection, String(route.name)).map((one) => {
    const { "@type": _, ...host } = shown(one);
    return host;
  });
  if (hosts.length === 0 || route.vhds === undefined) return entry;
  const virtual_hosts = [...route.virtual_hosts as unknown[] ?? [], ...hosts];
  const { version } = new TypeDump(connection, VIRTUAL_HOST);
  return { ...entry, ...version, route_config: { ...route, virtual_hosts } };
}

/** Route configurations that stand in listeners. */
function inlineRoutes(value: unknown): Json[] {
  if (Array.isArray(value)) return value.flatMap(inlineRoutes);
  if (typeof value !== "object" || value === null) return [];
  const json = value as Json;
  const { "@type": type, route_config } = json;
  if (typeof type === "string" && type.endsWith(".HttpConnectionManager")) {
    return route_config === undefined ? [] : [route_config as Json];
  }
  return Object.values(json).flatMap(inlineRoutes);
}

function shown({ typeUrl, value }: EncodedResource): Json {
  return anyJson(typeUrl, value);
}
