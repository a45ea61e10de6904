/**
 * The listener that accepts HBONE connections. The listener ends mutual TLS and CONNECT, and passes the inner
 * connection on with the addresses and identities for the policies of the chains behind.
 *
 * A client with a certificate of the mesh could put any address into a CONNECT, so at a workload only the dialled
 * address is accepted. The port is then a port of the workload, never of another machine or of the proxy's own
 * administration. At a waypoint the listener behind has chains for the addresses of services alone; the addresses of a
 * waypoint's workloads lead to listeners of their own.
 *
 * @module
 */
import { bracketed, hostAndPort } from "../../values/host.ts";
import {
  ComparisonFilter_Op as Op,
  FilterStateValue_SharedWithUpstream as Shared,
  HttpConnectionManager_CodecType as Codec,
  RBAC_Action as Action,
  TrafficDirection,
} from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";
import { duration, struct, wrap } from "../../../pb/wellknown.ts";
import { httpRbacFilter } from "../../filters/http/rbac/filter.ts";
import { routerFilter } from "../../filters/http/router/filter.ts";
import {
  CLIENT_ADDRESS,
  CONNECT_TERMINATE,
  DIALLED_ADDRESS,
  EXPECTED_NAMES,
  HBONE_METADATA,
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
import { routesOverAds } from "../http_connection_manager.ts";
import { ownHeaders, SERVER_NAME } from "../proxy_headers.ts";
import { connectionsPerEvent } from "../virtual.ts";

type Filter = envoy.config.listener.v3.Filter;
type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;
type VirtualHost = envoy.config.route.v3.VirtualHost;
type FilterStateValue = envoy.extensions.filters.common.set_filter_state.v3.FilterStateValue;
type HttpConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

/**
 * Limit of connections inside one connection. All run on one thread, so a client opens further connections when needed.
 */
const MAX_STREAMS = 100;
/** Interval and time limit of keepalive probes, ms. Connections are long-lived. */
const KEEPALIVE = { interval: 10_000, timeout: 20_000 } as const;

/**
 * The addresses that a CONNECT may have: the dialled address, or any address that the listener behind has. Of a waypoint
 * for workloads or several networks, and of a gateway between networks, a route configuration chooses what is behind
 * ({@linkcode CONNECT_ROUTES}).
 */
export type AdmittedAddresses = "dialledAddress" | "anyAddress" | "routedAddress";

/** The route configuration of routed addresses, over ADS. */
export const CONNECT_ROUTES = CONNECT_TERMINATE;

/** What is admitted. */
export interface ConnectAdmission {
  readonly addresses: AdmittedAddresses;
  /** Further filters that refuse CONNECTs. Default: none. */
  readonly policies?: readonly HttpFilter[];
  /** The names that stand for the dialled address with a port. Default: none. */
  readonly named?: readonly NamedConnect[];
}

/** The listener. Its filter chain needs no match, because the port carries nothing else. */
export function connectTerminateListener(
  read: Reader,
  identity: Identity,
  admission: ConnectAdmission,
): envoy.config.listener.v3.Listener {
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
      filters: [connectionManager(read, admission)],
    }],
    ...connectionsPerEvent(read),
    ...(logs.length > 0 ? { access_log: logs } : {}),
  };
}

function connectionManager(read: Reader, { addresses, policies = [], named = [] }: ConnectAdmission): Filter {
  const headers = read.proxyHeaders();
  const logs = carrierAccessLogs(read, "server", "http", {
    status_code_filter: {
      comparison: { op: Op.GE, value: { default_value: 400, runtime_key: "mesh.hbone.logged_from" } },
    },
  });
  const config: HttpConnectionManager = {
    codec_type: Codec.AUTO,
    stat_prefix: CONNECT_TERMINATE,
    ...addresses === "routedAddress" ? routesOverAds(CONNECT_ROUTES) : { route_config: ownRoutes(named) },
    http_filters: [
      handedOn(addresses),
      admitted(addresses),
      ...policies,
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

/** The virtual host of CONNECTs with any address. */
const ANY: VirtualHost = { name: "default", domains: ["*"], routes: [connectRoute(MAIN_INTERNAL)] };

/** The routes of a proxy without other listeners behind. */
function ownRoutes(named: readonly NamedConnect[]): RouteConfiguration {
  const hosts = named.map((one): VirtualHost => {
    const name = `${one.host}:${one.port}`;
    return { name, domains: [name], routes: [namedRoute(one)] };
  });
  return { name: "default", validate_clusters: wrap(false), virtual_hosts: [...hosts, ANY] };
}

/** A CONNECT by the name of a service. */
export interface NamedConnect {
  readonly host: string;
  readonly port: number;
  /** Address of the service at a waypoint; absent: the dialled address. */
  readonly ip?: string;
  /** The port at the address. */
  readonly at: number;
}

/** The route of CONNECTs by a name: the internal listener sees an address. */
function namedRoute({ ip, at }: NamedConnect): envoy.config.route.v3.Route {
  const address = ip === undefined ? commandText(cel(dialledAddress(at))) : hostAndPort(ip, at);
  const names: FilterStateValue = { ...state(NAMES_DIALLED, "true"), factory_key: "envoy.string" };
  const config: envoy.extensions.filters.http.set_filter_state.v3.Config = {
    on_request_headers: [shared(DIALLED_ADDRESS, address), ...(ip === undefined ? [names] : [])],
  };
  const handedOn = any("envoy.extensions.filters.http.set_filter_state.v3.Config", config);
  return { ...connectRoute(MAIN_INTERNAL), typed_per_filter_config: { [HANDED_ON]: handedOn } };
}

/** Connections to some addresses, which another listener takes. */
export interface ConnectGroup {
  readonly name: string;
  /** IP addresses; not empty. */
  readonly addresses: readonly string[];
  readonly cluster: string;
  /** Names that the certificate of the workload must have one of. Empty: any certificate of the mesh is accepted. */
  readonly names: readonly string[];
}

/**
 * The routes of CONNECTs at a waypoint: to the clusters of groups by address, all others to the listener of services.
 *
 * @param named Names of services, each with a different name and port.
 */
export function connectRoutes(groups: readonly ConnectGroup[], named: readonly NamedConnect[]): RouteConfiguration {
  const own = groups.map(({ name, addresses, cluster, names }): VirtualHost => ({
    name,
    domains: addresses.map(bracketed),
    routes: [{
      ...connectRoute(cluster),
      ...names.length > 0 && {
        metadata: {
          filter_metadata: { [HBONE_METADATA.namespace]: struct({ [HBONE_METADATA.key]: names.join(",") }) },
        },
      },
    }],
  }));
  return {
    name: CONNECT_ROUTES,
    validate_clusters: wrap(false),
    // The address of a CONNECT has a port.
    ignore_port_in_host_matching: true,
    virtual_hosts: [...own, ...namedHosts(named), ANY],
  };
}

/** Virtual hosts without ports: the routes compare the ports. */
function namedHosts(named: readonly NamedConnect[]): VirtualHost[] {
  return [...Map.groupBy(named, ({ host }) => host)].map(([host, ports]) => ({
    name: host,
    domains: [host],
    routes: ports.map((one) => {
      const exact = `${host}:${one.port}`;
      const headers = [{ name: ":authority", string_match: { exact, ignore_case: true } }];
      return { ...namedRoute(one), match: { connect_matcher: {}, headers } };
    }),
  }));
}

/** The route of CONNECTs to a cluster. A connection may last: Envoy would count 15 s from the end of the client's bytes. */
export function connectRoute(cluster: string): envoy.config.route.v3.Route {
  return {
    match: { connect_matcher: {} },
    route: {
      cluster,
      timeout: duration(0),
      upgrade_configs: [{ upgrade_type: "CONNECT", connect_config: {} }],
    },
  };
}

/** Filter state: whether the CONNECT's address is the dialled address, as text. */
const NAMES_DIALLED = "mesh.hbone.names_dialled";

/**
 * The dialled address with another port, or without its port but with the colon, as an expression. A place in a text to
 * insert has one digit.
 */
function dialledAddress(port: number | "" = ""): string {
  return `re.extract(destination.address, '^(.*:)[0-9]+$', '\\\\1${port}')`;
}

/** Name of the filter that stores addresses and identities. */
const HANDED_ON = "envoy.filters.http.set_filter_state";

/** Stores addresses and identities in filter state for the internal listener. */
function handedOn(admits: AdmittedAddresses): HttpFilter {
  const dialled = `request.host.startsWith(${dialledAddress()})`;
  const config: envoy.extensions.filters.http.set_filter_state.v3.Config = {
    on_request_headers: [
      shared(DIALLED_ADDRESS, "%REQ(:AUTHORITY)%"),
      shared(CLIENT_ADDRESS, "%DOWNSTREAM_DIRECT_REMOTE_ADDRESS%"),
      { ...shared(PEER_PRINCIPAL, "%DOWNSTREAM_PEER_URI_SAN%"), factory_key: IDENTITY },
      { ...shared(PEER_NAMESPACE_STATE, commandText(cel(CERTIFIED_NAMESPACE))), factory_key: IDENTITY },
      { ...shared(LOCAL_PRINCIPAL, "%DOWNSTREAM_LOCAL_URI_SAN%"), factory_key: IDENTITY },
      ...(admits === "dialledAddress"
        ? [{ ...state(NAMES_DIALLED, commandText(cel(dialled))), factory_key: "envoy.string" }]
        : []),
      ...(admits === "routedAddress" ? [expectedNames()] : []),
    ],
  };
  return {
    name: HANDED_ON,
    typed_config: any("envoy.extensions.filters.http.set_filter_state.v3.Config", config),
  };
}

/** Two internal listeners lie between here and the connection to the workload. */
function expectedNames(): FilterStateValue {
  const { namespace, key } = HBONE_METADATA;
  return { ...state(EXPECTED_NAMES, `%METADATA(ROUTE:${namespace}:${key})%`), shared_with_upstream: Shared.TRANSITIVE };
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
function admitted(admits: AdmittedAddresses): HttpFilter {
  const isAny = admits !== "dialledAddress";
  const ids = [
    ...(isAny ? [] : [{ filter_state: { key: NAMES_DIALLED, string_match: { exact: "true" } } }]),
    { filter_state: { key: PEER_PRINCIPAL, string_match: { safe_regex: { regex: "[^,]+" } } } },
  ];
  return httpRbacFilter({
    rules: {
      action: Action.ALLOW,
      policies: {
        [isAny ? "one name" : "own address, one name"]: {
          permissions: [{ any: true }],
          principals: [{ and_ids: { ids } }],
        },
      },
    },
  });
}
