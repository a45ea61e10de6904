/**
 * The listener that accepts HBONE connections. The listener ends mutual TLS and CONNECT, and passes the inner
 * connection on with the addresses and identities for the policies of the chains behind.
 *
 * A client with a certificate of the mesh could put any address into a CONNECT, so only the dialled address is
 * accepted. The port is then a port of the workload, never of another machine or of the proxy's own administration.
 *
 * @module
 */
import {
  ComparisonFilter_Op as Op,
  FilterStateValue_SharedWithUpstream as Shared,
  HttpConnectionManager_CodecType as Codec,
  RBAC_Action as Action,
  TrafficDirection,
} from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";
import { duration, wrap } from "../../../pb/wellknown.ts";
import { httpRbacFilter } from "../../filters/http/rbac/filter.ts";
import { routerFilter } from "../../filters/http/router/filter.ts";
import {
  CLIENT_ADDRESS,
  CONNECT_TERMINATE,
  DIALLED_ADDRESS,
  HBONE_PORT,
  LOCAL_PRINCIPAL,
  MAIN_INTERNAL,
  PEER_NAMESPACE_STATE,
  PEER_PRINCIPAL,
} from "../../hbone/names.ts";
import type { Reader } from "../../reader/reader.ts";
import { carrierAccessLogs, listenerAccessLogs } from "../../telemetry/access_logs.ts";
import { CERTIFIED_NAMESPACE } from "../../telemetry/metrics/peer.ts";
import { cel, commandText } from "../../telemetry/metrics/tag_value.ts";
import { meshServerSocket } from "../../tls/mesh_server.ts";
import { hboneTlsParameters } from "../../tls/parameters.ts";
import type { Identity } from "../../tls/secret_source.ts";
import { listenAddresses, wildcards } from "../address.ts";
import { ownHeaders, SERVER_NAME } from "../proxy_headers.ts";
import { connectionsPerEvent } from "../virtual.ts";

type Filter = envoy.config.listener.v3.Filter;
type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
type FilterStateValue = envoy.extensions.filters.common.set_filter_state.v3.FilterStateValue;
type HttpConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

/**
 * Limit of connections inside one connection. All run on one thread, so a client opens further connections when needed.
 */
const MAX_STREAMS = 100;
/** Interval and time limit of keepalive probes, ms. Connections are long-lived. */
const KEEPALIVE = { interval: 10_000, timeout: 20_000 } as const;

/** The listener. Its filter chain needs no match, because the port carries nothing else. */
export function connectTerminateListener(read: Reader, identity: Identity): envoy.config.listener.v3.Listener {
  const logs = listenerAccessLogs(read, "server");
  const offer = { parameters: hboneTlsParameters(read), alpn: ["h2"] };
  return {
    name: CONNECT_TERMINATE,
    ...listenAddresses(wildcards(read), HBONE_PORT),
    traffic_direction: TrafficDirection.INBOUND,
    // A few connections with many inner connections could by chance share a thread.
    connection_balance_config: { exact_balance: {} },
    filter_chains: [{
      name: "default",
      transport_socket: meshServerSocket(read, identity, offer),
      filters: [connectionManager(read)],
    }],
    ...connectionsPerEvent(read),
    ...(logs.length > 0 ? { access_log: logs } : {}),
  };
}

function connectionManager(read: Reader): Filter {
  const headers = read.proxyHeaders();
  const logs = carrierAccessLogs(read, "server", "http", {
    status_code_filter: {
      comparison: { op: Op.GE, value: { default_value: 400, runtime_key: "mesh.hbone.logged_from" } },
    },
  });
  const config: HttpConnectionManager = {
    codec_type: Codec.AUTO,
    stat_prefix: CONNECT_TERMINATE,
    route_config: ROUTES,
    http_filters: [
      handedOn(),
      admitted(),
      routerFilter({ suppressEnvoyHeaders: headers?.proxyDebugHeaders?.disabled ?? false }),
    ],
    ...ownHeaders(headers, SERVER_NAME),
    use_remote_address: wrap(false),
    http2_protocol_options: {
      allow_connect: true,
      max_concurrent_streams: wrap(MAX_STREAMS),
      connection_keepalive: { interval: duration(KEEPALIVE.interval), timeout: duration(KEEPALIVE.timeout) },
    },
    stream_idle_timeout: duration(0),
    upgrade_configs: [{ upgrade_type: "CONNECT" }],
    ...(logs.length > 0 ? { access_log: logs } : {}),
  };
  return {
    name: "envoy.filters.network.http_connection_manager",
    typed_config: any("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", config),
  };
}

/** A connection may last: Envoy would count 15 s from the end of the client's bytes. */
const ROUTES: envoy.config.route.v3.RouteConfiguration = {
  name: "default",
  validate_clusters: wrap(false),
  virtual_hosts: [{
    name: "default",
    domains: ["*"],
    routes: [{
      match: { connect_matcher: {} },
      route: {
        cluster: MAIN_INTERNAL,
        timeout: duration(0),
        upgrade_configs: [{ upgrade_type: "CONNECT", connect_config: {} }],
      },
    }],
  }],
};

/** Filter state: whether the CONNECT's address is the dialled address, as text. */
const NAMES_DIALLED = "mesh.hbone.names_dialled";

/** Stores addresses and identities in filter state for the internal listener. */
function handedOn(): HttpFilter {
  const dialled = "request.host.startsWith(re.extract(destination.address, '^(.*:)[0-9]+$', '\\\\1'))";
  const config: envoy.extensions.filters.http.set_filter_state.v3.Config = {
    on_request_headers: [
      shared(DIALLED_ADDRESS, "%REQ(:AUTHORITY)%"),
      shared(CLIENT_ADDRESS, "%DOWNSTREAM_DIRECT_REMOTE_ADDRESS%"),
      { ...shared(PEER_PRINCIPAL, "%DOWNSTREAM_PEER_URI_SAN%"), factory_key: IDENTITY },
      { ...shared(PEER_NAMESPACE_STATE, commandText(cel(CERTIFIED_NAMESPACE))), factory_key: IDENTITY },
      { ...shared(LOCAL_PRINCIPAL, "%DOWNSTREAM_LOCAL_URI_SAN%"), factory_key: IDENTITY },
      { ...state(NAMES_DIALLED, commandText(cel(dialled))), factory_key: "envoy.string" },
    ],
  };
  return {
    name: "envoy.filters.http.set_filter_state",
    typed_config: any("envoy.extensions.filters.http.set_filter_state.v3.Config", config),
  };
}

/** Text that keeps connections of different identities apart: Envoy never reuses a connection for another client. */
const IDENTITY = "envoy.hashable_string";

function state(object_key: string, text: string): FilterStateValue {
  return {
    object_key,
    format_string: { text_format_source: { inline_string: text }, omit_empty_values: true },
    skip_if_empty: true,
  };
}

function shared(key: string, text: string): FilterStateValue {
  return { ...state(key, text), shared_with_upstream: Shared.ONCE };
}

/**
 * Refuses a client whose CONNECT has another address, or whose certificate does not have exactly one name. Policies
 * would see several names as a single text and match the whole.
 */
function admitted(): HttpFilter {
  const ids = [
    { filter_state: { key: NAMES_DIALLED, string_match: { exact: "true" } } },
    { filter_state: { key: PEER_PRINCIPAL, string_match: { safe_regex: { regex: "[^,]+" } } } },
  ];
  return httpRbacFilter({
    rules: {
      action: Action.ALLOW,
      policies: { "own address, one name": { permissions: [{ any: true }], principals: [{ and_ids: { ids } }] } },
    },
  });
}
