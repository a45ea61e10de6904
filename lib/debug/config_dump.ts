/**
 * `/debug/config_dump`: all resources that a proxy should have, in the form of the same page of Envoy's admin port.
 *
 * Facts known only to Envoy are missing: its bootstrap, the time of each update, and Envoy's own state of endpoints.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import * as z from "zod";
import type { envoy } from "../../proto/gen/types.ts";
import { LazyList, LazyObject, longJsonResponse } from "../http/json_stream.ts";
import { TYPE_URL_PREFIX } from "../pb/codec.ts";
import { anyJson } from "../pb/json.ts";
import { decode } from "../pb/reflect.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { CLUSTER, ENDPOINTS, EXTENSION_CONFIG, LISTENER, ROUTE, SECRET } from "../xds/protocol/types.ts";
import type { HttpRequest, HttpResponse } from "../http/message.ts";
import { unpack } from "../simulate/decode.ts";
import { dumpEntries, dumpVersion, hostsApart, routeVersion } from "./dump_entries.ts";
import { queried, SWITCH } from "./query.ts";
import { resourcesOf } from "./resources.ts";
import { routesJson } from "./routes_json.ts";
import { chosenProxy, isAnswer, PROXY_ID } from "./select.ts";

type Json = Record<string, unknown>;
type Listener = envoy.config.listener.v3.Listener;
type HttpConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

const BY_SHORT: Readonly<Record<string, string>> = {
  cds: CLUSTER,
  lds: LISTENER,
  rds: ROUTE,
  eds: ENDPOINTS,
  sds: SECRET,
  ecds: EXTENSION_CONFIG,
};

const TYPES_EXPECTED = `some of ${Object.keys(BY_SHORT).join(", ")}, with commas between them`;

const QUERY = z.object({
  proxyID: PROXY_ID,
  types: z.string().transform((text) => text.split(",").map((short) => short.trim()))
    .refine((shorts) => shorts.every((short) => Object.hasOwn(BY_SHORT, short)), { error: TYPES_EXPECTED })
    .optional(),
  include_eds: SWITCH,
});

/** The page. `types=cds,lds` gives a flat list of these types. `include_eds` adds endpoints to the whole dump. */
export const configDump = queried(QUERY, (request, view, { proxyID, types, include_eds }): HttpResponse => {
  const connection = chosenProxy(proxyID, view);
  if (isAnswer(connection)) return connection;
  if (types === undefined) {
    return longJsonResponse(new LazyObject([["configs", sections(connection, include_eds)]]), request);
  }
  return flatDump(connection, types.map((short) => BY_SHORT[short]!), request);
});

/** `/debug/edsz`: the endpoints of a proxy, as `config_dump?types=eds`. */
export const edsz = dumpOf(ENDPOINTS);

/** `/debug/ecdsz`: the extension configurations of a proxy, as `config_dump?types=ecds`. */
export const ecdsz = dumpOf(EXTENSION_CONFIG);

function dumpOf(typeUrl: string) {
  return queried(z.object({ proxyID: PROXY_ID }), (request, view, { proxyID }): HttpResponse => {
    const connection = chosenProxy(proxyID, view);
    return isAnswer(connection) ? connection : flatDump(connection, [typeUrl], request);
  });
}

function flatDump(connection: XdsConnection, typeUrls: readonly string[], request: HttpRequest): HttpResponse {
  const resources = typeUrls.flatMap((typeUrl) => resourcesOf(connection, typeUrl));
  return longJsonResponse(new LazyObject([["configs", LazyList.of(resources, shown)]]), request);
}

/** The parts of a dump in Envoy's order. */
function sections(connection: XdsConnection, withEndpoints: boolean): LazyList {
  const parts = [
    part("ClustersConfigDump", {
      ...versionOf(connection, CLUSTER),
      dynamic_active_clusters: entries(connection, CLUSTER, "cluster", unnamed),
    }),
    ...extensionPart(connection),
    ...(withEndpoints ? [part("EndpointsConfigDump", { dynamic_endpoint_configs: endpointConfigs(connection) })] : []),
    part("ListenersConfigDump", {
      ...versionOf(connection, LISTENER),
      dynamic_listeners: entries(connection, LISTENER, "listener", ({ name, error_state, ...active_state }) => ({
        name,
        active_state,
        error_state,
      })),
    }),
    part("ScopedRoutesConfigDump", {}),
    part("RoutesConfigDump", {
      static_route_configs: inlineRoutes(resourcesOf(connection, LISTENER)),
      dynamic_route_configs: routeConfigs(connection),
    }),
    part("SecretsConfigDump", { dynamic_active_secrets: entries(connection, SECRET, "secret") }),
  ];
  return LazyList.of(parts, (one) => one);
}

function versionOf(connection: XdsConnection, typeUrl: string): Json {
  const version = dumpVersion(connection, typeUrl);
  return version === undefined ? {} : { version_info: version };
}

/** Envoy prints this part only if there is an extension configuration. */
function extensionPart(connection: XdsConnection): LazyObject[] {
  const ecds_filters = entries(connection, EXTENSION_CONFIG, "ecds_filter", unnamed);
  return ecds_filters.length === 0 ? [] : [part("EcdsConfigDump", { ecds_filters })];
}

/** A part; empty lists are left out, as Envoy does. */
function part(name: string, rest: Json): LazyObject {
  const filled = Object.entries(rest).filter(([, value]) => !(value instanceof LazyList) || value.length > 0);
  return new LazyObject([["@type", `${TYPE_URL_PREFIX}envoy.admin.v3.${name}`], ...filled]);
}

/** How the resource of an entry is written; default: {@linkcode shown}. */
type WriteResource = (resource: EncodedResource) => unknown;

/** The resources of a type as a list, each in a field with the given name. */
function entries(
  connection: XdsConnection,
  typeUrl: string,
  field: string,
  entry: (fields: Json, resource: EncodedResource) => Json = (fields) => fields,
  written: WriteResource = shown,
): LazyList {
  return LazyList.of(dumpEntries(connection, typeUrl), ({ resource, version, rejection }) => {
    const fields = {
      name: resource.name,
      version_info: version,
      [field]: written(resource),
      ...(rejection === undefined ? {} : { error_state: { details: rejection } }),
    };
    return new LazyObject(Object.entries(entry(fields, resource)));
  });
}

function unnamed({ name: _, ...rest }: Json): Json {
  return rest;
}

/**
 * Endpoints as they were sent. Envoy's dump adds health and defaults, and the endpoints of clusters with inline
 * endpoints.
 */
function endpointConfigs(connection: XdsConnection): LazyList {
  return LazyList.of(resourcesOf(connection, ENDPOINTS), (resource) => ({ endpoint_config: shown(resource) }));
}

/**
 * Route configurations. Virtual hosts sent as resources of their own stand in their route configuration, as in Envoy's
 * dump.
 */
function routeConfigs(connection: XdsConnection): LazyList {
  return entries(
    connection,
    ROUTE,
    "route_config",
    ({ name: _, version_info, ...rest }, resource) => ({
      version_info: routeVersion(connection, String(version_info), hostsApart(connection, resource)),
      ...rest,
    }),
    (resource) => routesJson(resource, hostsApart(connection, resource)),
  );
}

/** Route configurations inside listeners. */
function inlineRoutes(listeners: readonly EncodedResource[]): LazyList {
  const found = listeners.filter(hasInlineRoutes).flatMap((listener) => inlineIn(shown(listener)));
  return LazyList.of(found, (route_config) => ({ route_config: { "@type": ROUTE, ...route_config } }));
}

const MANAGER = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/**
 * Whether a listener may have inline routes. Only such listeners become JSON, because there may be thousands of others.
 */
function hasInlineRoutes({ value }: EncodedResource): boolean {
  if (!Buffer.from(value.buffer, value.byteOffset, value.length).includes(MANAGER)) return false;
  const { filter_chains = [], default_filter_chain } = decode<Listener>("envoy.config.listener.v3.Listener", value);
  const chains = [...filter_chains, ...default_filter_chain ? [default_filter_chain] : []];
  const filters = chains.flatMap((chain) => chain.filters ?? []);
  return filters.some(({ typed_config }) => unpack<HttpConnectionManager>(typed_config, MANAGER)?.route_config);
}

function inlineIn(value: unknown): Json[] {
  if (Array.isArray(value)) return value.flatMap(inlineIn);
  if (typeof value !== "object" || value === null) return [];
  const json = value as Json;
  const { "@type": type, route_config } = json;
  if (typeof type === "string" && type.endsWith(MANAGER)) {
    return route_config === undefined ? [] : [route_config as Json];
  }
  return Object.values(json).flatMap(inlineIn);
}

function shown({ typeUrl, value }: EncodedResource): Json {
  return anyJson(typeUrl, value);
}
