/**
 * Schema of ProxyFilter.
 *
 * @module
 */
import { list, stringMap, struct } from "../../schema/containers.ts";
import { type Field, withDefault } from "../../schema/field.ts";
import { message, shape } from "../../schema/message.ts";
import { enumOf, int32, string, uint32 } from "../../schema/scalars.ts";
import { labelsSelector, targetReference } from "../common/schema.ts";
import type * as types from "./types.ts";

const listenerMatch = message<types.ListenerMatch>({
  portNumber: uint32(),
  portName: string(),
  filterChain: message<types.FilterChainMatch>({
    name: string(),
    sni: string(),
    transportProtocol: string(),
    applicationProtocols: string(),
    filter: shape({ name: string(), subFilter: shape({ name: string() }) }),
    destinationPort: uint32(),
  }),
  listenerFilter: string(),
  name: string(),
});

const routeConfigurationMatch = message<types.RouteConfigurationMatch>({
  portNumber: uint32(),
  portName: string(),
  gateway: string(),
  vhost: message<types.VirtualHostMatch>({
    name: string(),
    domainName: string(),
    route: message<types.RouteMatch>({
      name: string(),
      action: withDefault(enumOf("ANY", "ROUTE", "REDIRECT", "DIRECT_RESPONSE"), "ANY"),
    }),
  }),
  name: string(),
});

const match = message<types.ConfigObjectMatch>(
  {
    context: withDefault(enumOf("ANY", "SIDECAR_INBOUND", "SIDECAR_OUTBOUND", "GATEWAY"), "ANY"),
    proxy: shape({ proxyVersion: string(), metadata: stringMap() }),
    listener: listenerMatch,
    routeConfiguration: routeConfigurationMatch,
    cluster: message<types.ClusterMatch>({
      portNumber: uint32(),
      service: string(),
      subset: string(),
      name: string(),
    }),
  },
  { oneOf: [["listener", "routeConfiguration", "cluster"]] },
);

const patch = message<types.Patch>({
  operation: withDefault(
    enumOf("INVALID", "MERGE", "ADD", "REMOVE", "INSERT_BEFORE", "INSERT_AFTER", "INSERT_FIRST", "REPLACE"),
    "INVALID",
  ),
  value: struct(),
  filterClass: withDefault(enumOf("UNSPECIFIED", "AUTHN", "AUTHZ", "STATS"), "UNSPECIFIED"),
});

/** Schema of {@link types.ProxyFilterSpec}. */
export const proxyFilter: Field<types.ProxyFilterSpec> = message<types.ProxyFilterSpec>({
  workloadSelector: labelsSelector,
  targetRefs: list(targetReference),
  configPatches: list(message<types.ConfigPatch>({
    applyTo: withDefault(
      enumOf(
        "INVALID",
        "LISTENER",
        "FILTER_CHAIN",
        "NETWORK_FILTER",
        "HTTP_FILTER",
        "ROUTE_CONFIGURATION",
        "VIRTUAL_HOST",
        "HTTP_ROUTE",
        "CLUSTER",
        "EXTENSION_CONFIG",
        "BOOTSTRAP",
        "LISTENER_FILTER",
      ),
      "INVALID",
    ),
    match,
    patch,
  })),
  priority: int32(),
});
