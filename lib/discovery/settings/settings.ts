/**
 * Turns the program's settings into the options of each package. Settings of translation are read nowhere else.
 *
 * @module
 */
import { catalogue, type SettingsOf } from "../../kernel/settings/catalogue.ts";
import type { OrchRegistryOptions } from "../../registry/orch/options.ts";
import type { ServiceEntryOptions } from "../../registry/service_entry/registry.ts";
import type { CacheSwitches } from "../../translate/machine/cache/caches.ts";
import type { TranslateSettings } from "../../translate/reader/settings.ts";
import type { DebounceOptions } from "../pipeline/debounce.ts";
import type { GrpcServerOptions } from "../../grpc/server.ts";
import type { XdsServerOptions } from "../../xds/server.ts";

export type DiscoverySettings = SettingsOf<"pilot-discovery">;

/** `PILOT_JWT_ENABLE_REMOTE_JWKS`: the program that fetches the keys of token issuers. */
const KEY_FETCHERS = {
  false: "server",
  meshd: "server",
  true: "hybrid",
  hybrid: "hybrid",
  proxy: "proxy",
} as const;

/** The settings of translation. */
export type TranslateVariables = Pick<
  DiscoverySettings,
  | "AMBIENT_ENABLE_MULTI_NETWORK"
  | "COMPLIANCE_POLICY"
  | "ENABLE_100_CONTINUE_HEADERS"
  | "ENABLE_HCM_INTERNAL_NETWORKS"
  | "ENABLE_INGRESS_WAYPOINT_ROUTING"
  | "ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES"
  | "ENABLE_LOCALITY_WEIGHTED_LB_CONFIG"
  | "ENABLE_MULTICLUSTER_HEADLESS"
  | "ENABLE_TLS_ON_SIDECAR_INGRESS"
  | "LABEL_CANONICAL_SERVICES_FOR_MESH_EXTERNAL_SERVICE_ENTRIES"
  | "MAX_CONNECTIONS_PER_SOCKET_EVENT_LOOP"
  | "MESH_DUAL_STACK"
  | "MESH_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS"
  | "MESH_MAX_CONNECTIONS"
  | "MESH_ON_DEMAND_TIMEOUT"
  | "MESH_WAYPOINT_FAIL_OPEN"
  | "MESH_HTTP_BY_ADDRESS"
  | "ENABLE_GATEWAY_API_INFERENCE_EXTENSION"
  | "PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE"
  | "PILOT_DNS_CARES_UDP_MAX_QUERIES"
  | "PILOT_DNS_JITTER_DURATION"
  | "PILOT_DRAINING_LABEL"
  | "PILOT_ENABLE_ABSOLUTE_FQDN_VHOST_DOMAIN"
  | "PILOT_ENABLE_AMBIENT"
  | "PILOT_ENABLE_AMBIENT_WAYPOINTS"
  | "PILOT_ENABLE_EDS_FOR_HEADLESS_SERVICES"
  | "PILOT_ENABLE_IP_AUTOALLOCATE"
  | "PILOT_ENABLE_METADATA_EXCHANGE"
  | "PILOT_ENABLE_MONGO_FILTER"
  | "PILOT_ENABLE_MYSQL_FILTER"
  | "PILOT_ENABLE_PERSISTENT_SESSION_FILTER"
  | "PILOT_ENABLE_QUIC_LISTENERS"
  | "PILOT_ENABLE_REDIS_FILTER"
  | "PILOT_ENABLE_ROUTE_COLLAPSE_OPTIMIZATION"
  | "PILOT_ENABLE_SENDING_HBONE"
  | "PILOT_ENABLE_SIDECAR_LISTENING_HBONE"
  | "PILOT_ENABLE_TELEMETRY_LABEL"
  | "PILOT_ENDPOINT_TELEMETRY_LABEL"
  | "PILOT_FILTER_GATEWAY_CLUSTER_CONFIG"
  | "PILOT_HTTP10"
  | "PILOT_JWT_ENABLE_REMOTE_JWKS"
  | "PILOT_PERSISTENT_SESSION_HEADER_LABEL"
  | "PILOT_PERSISTENT_SESSION_LABEL"
  | "PILOT_PREFER_SENDING_HBONE"
  | "ENABLE_SELECTOR_BASED_ORCH_GATEWAY_POLICY"
  | "PILOT_SCOPE_GATEWAY_TO_NAMESPACE"
  | "PILOT_SEND_UNHEALTHY_ENDPOINTS"
  | "PILOT_SIDECAR_USE_REMOTE_ADDRESS"
  | "PILOT_SKIP_VALIDATE_TRUST_DOMAIN"
  | "PILOT_SPAWN_UPSTREAM_SPAN_FOR_GATEWAY"
  | "PILOT_TRACE_SAMPLING"
  | "PREFER_DESTINATIONRULE_TLS_FOR_EXTERNAL_SERVICES"
>;

/** The options of translation. */
export function translateSettings(
  settings: TranslateVariables,
  domainSuffix: string,
  variable: TranslateSettings["variable"] = () => undefined,
): TranslateSettings {
  return {
    domainSuffix,
    variable,
    enableHttp10: settings.PILOT_HTTP10,
    http3: settings.PILOT_ENABLE_QUIC_LISTENERS,
    databases: [
      ...settings.PILOT_ENABLE_MONGO_FILTER ? ["Mongo" as const] : [],
      ...settings.PILOT_ENABLE_MYSQL_FILTER ? ["MySQL" as const] : [],
      ...settings.PILOT_ENABLE_REDIS_FILTER ? ["Redis" as const] : [],
    ],
    listensHbone: settings.PILOT_ENABLE_SIDECAR_LISTENING_HBONE,
    sendsHbone: settings.PILOT_ENABLE_SENDING_HBONE,
    prefersHbone: settings.PILOT_PREFER_SENDING_HBONE,
    waypoints: settings.PILOT_ENABLE_AMBIENT_WAYPOINTS,
    ingressWaypoints: settings.PILOT_ENABLE_AMBIENT_WAYPOINTS && settings.ENABLE_INGRESS_WAYPOINT_ROUTING,
    opensWithoutWaypoint: settings.MESH_WAYPOINT_FAIL_OPEN,
    layersPolicies: settings.ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES,
    multiNetwork: settings.PILOT_ENABLE_AMBIENT && settings.AMBIENT_ENABLE_MULTI_NETWORK,
    traceSampling: settings.PILOT_TRACE_SAMPLING,
    exchangePeers: settings.PILOT_ENABLE_METADATA_EXCHANGE,
    spawnUpstreamSpanForGateway: settings.PILOT_SPAWN_UPSTREAM_SPAN_FOR_GATEWAY,
    enablePersistentSessionFilter: settings.PILOT_ENABLE_PERSISTENT_SESSION_FILTER,
    persistentSessionLabel: settings.PILOT_PERSISTENT_SESSION_LABEL,
    persistentSessionHeaderLabel: settings.PILOT_PERSISTENT_SESSION_HEADER_LABEL,
    enableRouteCollapse: settings.PILOT_ENABLE_ROUTE_COLLAPSE_OPTIMIZATION,
    enableAbsoluteFqdnVhostDomain: settings.PILOT_ENABLE_ABSOLUTE_FQDN_VHOST_DOMAIN,
    httpByAddress: settings.MESH_HTTP_BY_ADDRESS,
    enable100ContinueHeaders: settings.ENABLE_100_CONTINUE_HEADERS,
    multiclusterHeadless: settings.ENABLE_MULTICLUSTER_HEADLESS,
    enableEdsForHeadless: settings.PILOT_ENABLE_EDS_FOR_HEADLESS_SERVICES,
    enableLocalityWeightedLb: settings.ENABLE_LOCALITY_WEIGHTED_LB_CONFIG,
    sendUnhealthyEndpoints: settings.PILOT_SEND_UNHEALTHY_ENDPOINTS,
    drainingLabel: settings.PILOT_DRAINING_LABEL,
    sidecarUseRemoteAddress: settings.PILOT_SIDECAR_USE_REMOTE_ADDRESS,
    enableTlsOnSidecarIngress: settings.ENABLE_TLS_ON_SIDECAR_INGRESS,
    allowSidecarServiceInboundListenerMerge: settings.PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE,
    preferDestinationRuleTlsForExternal: settings.PREFER_DESTINATIONRULE_TLS_FOR_EXTERNAL_SERVICES,
    dualStack: settings.MESH_DUAL_STACK,
    bothFamilies: settings.PILOT_ENABLE_AMBIENT,
    assignsAddresses: settings.PILOT_ENABLE_IP_AUTOALLOCATE,
    enableIpv4OutboundListenerForIpv6Clusters: settings.MESH_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS,
    dnsCaresUdpMaxQueries: Number(settings.PILOT_DNS_CARES_UDP_MAX_QUERIES),
    dnsJitterMs: settings.PILOT_DNS_JITTER_DURATION,
    askTimeoutMs: settings.MESH_ON_DEMAND_TIMEOUT,
    enableTelemetryLabel: settings.PILOT_ENABLE_TELEMETRY_LABEL,
    endpointTelemetryLabel: settings.PILOT_ENDPOINT_TELEMETRY_LABEL,
    maxConnectionsPerSocketEventLoop: settings.MAX_CONNECTIONS_PER_SOCKET_EVENT_LOOP,
    filterGatewayClusterConfig: settings.PILOT_FILTER_GATEWAY_CLUSTER_CONFIG,
    scopeGatewayToNamespace: settings.PILOT_SCOPE_GATEWAY_TO_NAMESPACE,
    gatewaySelectors: settings.ENABLE_SELECTOR_BASED_ORCH_GATEWAY_POLICY,
    inferencePools: settings.ENABLE_GATEWAY_API_INFERENCE_EXTENSION,
    enableHcmInternalNetworks: settings.ENABLE_HCM_INTERNAL_NETWORKS,
    skipValidateTrustDomain: settings.PILOT_SKIP_VALIDATE_TRUST_DOMAIN,
    tokenKeysFetchedBy: tokenKeysFetchedBy(settings),
    compliancePolicy: settings.COMPLIANCE_POLICY,
    labelCanonicalServicesForMeshExternal: settings.LABEL_CANONICAL_SERVICES_FOR_MESH_EXTERNAL_SERVICE_ENTRIES,
  };
}

/** The program that fetches the keys of token issuers. */
export function tokenKeysFetchedBy(
  settings: Pick<DiscoverySettings, "PILOT_JWT_ENABLE_REMOTE_JWKS">,
): TranslateSettings["tokenKeysFetchedBy"] {
  return KEY_FETCHERS[settings.PILOT_JWT_ENABLE_REMOTE_JWKS];
}

/** How long changes wait for later changes before a push. */
export function debounceOptions(
  settings: Pick<DiscoverySettings, "PILOT_DEBOUNCE_AFTER" | "PILOT_DEBOUNCE_MAX" | "PILOT_ENABLE_EDS_DEBOUNCE">,
): DebounceOptions {
  return {
    after: settings.PILOT_DEBOUNCE_AFTER,
    max: settings.PILOT_DEBOUNCE_MAX,
    endpoints: settings.PILOT_ENABLE_EDS_DEBOUNCE,
  };
}

/** The switches of the caches. */
export function cacheSwitches(
  settings: Pick<DiscoverySettings, "PILOT_ENABLE_CDS_CACHE" | "PILOT_ENABLE_RDS_CACHE" | "PILOT_ENABLE_XDS_CACHE">,
): CacheSwitches {
  return {
    all: settings.PILOT_ENABLE_XDS_CACHE,
    clusters: settings.PILOT_ENABLE_CDS_CACHE,
    routes: settings.PILOT_ENABLE_RDS_CACHE,
  };
}

/** The options of the registry of service entries. */
export function entryOptions(
  settings: Pick<
    DiscoverySettings,
    "PILOT_DRAINING_LABEL" | "PILOT_ENABLE_SERVICEENTRY_SELECT_PODS" | "PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS"
  >,
  clusterId: string,
): Omit<ServiceEntryOptions, "networkOf"> {
  return {
    clusterId,
    drainingLabel: settings.PILOT_DRAINING_LABEL,
    selectPods: settings.PILOT_ENABLE_SERVICEENTRY_SELECT_PODS,
    // Always on: proxies may ask for the addresses (DNS_AUTO_ALLOCATE) even when the server does not assign them by
    // default.
    autoAllocate: true,
    healthChecks: settings.PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS,
  };
}

/**
 * Whether workload entries in other clusters are read. This needs both settings: only services of the orchestrator
 * select these entries.
 */
export function readsRemoteEntries(
  settings: Pick<
    DiscoverySettings,
    "PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY" | "PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES"
  >,
): boolean {
  return settings.PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY && settings.PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES;
}

/** The settings about services that clusters share with each other. */
type SharingVariables = Pick<
  DiscoverySettings,
  "ENABLE_MCS_CLUSTER_LOCAL" | "ENABLE_MCS_HOST" | "ENABLE_MCS_SERVICE_DISCOVERY"
>;

/** The settings about the API of exports and imports. */
type SharingGroupVariables = Pick<DiscoverySettings, "MCS_API_GROUP" | "MCS_API_VERSION">;

/** The variables of {@linkcode sharingApi}. */
export type SharingApiVariables = SharingVariables & SharingGroupVariables;

/** The variables about the kinds of the Gateway API that are read. */
export type GatewayApiVariables = Pick<
  DiscoverySettings,
  "ENABLE_GATEWAY_API_INFERENCE_EXTENSION" | "PILOT_ENABLE_ALPHA_GATEWAY_API" | "PILOT_ENABLE_GATEWAY_API"
>;

/** The versions of the Gateway API's kinds that are read from an API. */
export function gatewayApiVersions(settings: GatewayApiVariables): "none" | "stable" | "stable and alpha" {
  if (!settings.PILOT_ENABLE_GATEWAY_API) return "none";
  return settings.PILOT_ENABLE_ALPHA_GATEWAY_API ? "stable and alpha" : "stable";
}

/** The variables of {@linkcode orchOptions}. */
export type OrchVariables =
  & SharingVariables
  & Pick<
    DiscoverySettings,
    | "MESH_DUAL_STACK"
    | "PILOT_DRAINING_LABEL"
    | "PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES"
    | "PILOT_PERSISTENT_SESSION_HEADER_LABEL"
    | "PILOT_PERSISTENT_SESSION_LABEL"
  >;

/** The options of the registry of the orchestrator's objects. */
export function orchOptions(
  settings: OrchVariables,
): Pick<OrchRegistryOptions, "selectWorkloadEntries" | "dualStack" | "stickyLabels" | "drainingLabel" | "shared"> {
  return {
    selectWorkloadEntries: settings.PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES,
    dualStack: settings.MESH_DUAL_STACK,
    stickyLabels: [settings.PILOT_PERSISTENT_SESSION_LABEL, settings.PILOT_PERSISTENT_SESSION_HEADER_LABEL],
    drainingLabel: settings.PILOT_DRAINING_LABEL,
    shared: sharedServices(settings),
  };
}

/** Whether node tunnels reach workloads of other networks and clusters. */
export function hasSeveralNetworks(
  settings: Pick<DiscoverySettings, "AMBIENT_ENABLE_MULTI_NETWORK" | "PILOT_ENABLE_AMBIENT">,
): boolean {
  return settings.PILOT_ENABLE_AMBIENT && settings.AMBIENT_ENABLE_MULTI_NETWORK;
}

/** Settings of exports and imports that are on without effect, each with the missing settings. */
export function sharingWithoutEffect(settings: SharingVariables): string[] {
  const needs = [
    ["ENABLE_MCS_HOST", ["ENABLE_MCS_SERVICE_DISCOVERY"]],
    ["ENABLE_MCS_CLUSTER_LOCAL", ["ENABLE_MCS_SERVICE_DISCOVERY", "ENABLE_MCS_HOST"]],
  ] as const;
  return needs.flatMap(([name, needed]) => {
    const missing = needed.filter((other) => !settings[other]);
    return settings[name] && missing.length > 0
      ? [`${name}: got true, without effect while ${missing.join(" and ")} is off`]
      : [];
  });
}

/** The usual group of exports and imports outside this project, used when the setting has its default. */
const SHARING_GROUP = "multicluster.x-k8s.io";

/** Where exports and imports of services are. */
export interface SharingApi {
  /** Groups with exports and imports, the preferred group first. */
  readonly groups: readonly string[];
  readonly version: string;
  /** Whether imports are read too. */
  readonly imports: boolean;
}

/** Where exports and imports of services are read; undefined: nowhere. */
export function sharingApi(settings: SharingApiVariables): SharingApi | undefined {
  const shared = sharedServices(settings);
  if (shared === undefined) return undefined;
  return { ...sharingGroups(settings), imports: shared.host };
}

/** Where exports and imports of services may be. */
export function sharingGroups(settings: SharingGroupVariables): Pick<SharingApi, "groups" | "version"> {
  const group = settings.MCS_API_GROUP, version = settings.MCS_API_VERSION;
  const isDefault = group === catalogue.MCS_API_GROUP.default;
  return { groups: isDefault ? [group, SHARING_GROUP] : [group], version };
}

/** Each of these settings has an effect only with the earlier settings. */
function sharedServices(settings: SharingVariables): OrchRegistryOptions["shared"] {
  if (!settings.ENABLE_MCS_SERVICE_DISCOVERY) return undefined;
  const host = settings.ENABLE_MCS_HOST;
  return { host, clusterLocal: host && settings.ENABLE_MCS_CLUSTER_LOCAL };
}

/** Limits of the wire for all streams together; 0: derived from the number of cores. */
export function wireLimits(
  settings: Pick<DiscoverySettings, "K_REVISION" | "PILOT_MAX_REQUESTS_PER_SECOND" | "PILOT_PUSH_THROTTLE">,
): Pick<XdsServerOptions, "maxRequestsPerSecond" | "pushThrottle" | "refuseFirst"> {
  return {
    maxRequestsPerSecond: settings.PILOT_MAX_REQUESTS_PER_SECOND,
    pushThrottle: settings.PILOT_PUSH_THROTTLE,
    refuseFirst: settings.K_REVISION !== "",
  };
}

/** Limits of the wire for one connection, and the most connections. */
export function callLimits(
  settings: Pick<DiscoverySettings, "MESH_GPRC_MAXRECVMSGSIZE" | "MESH_GPRC_MAXSTREAMS" | "MESH_MAX_CONNECTIONS">,
): Pick<GrpcServerOptions, "maxMessageSize" | "maxConcurrentStreams" | "maxConnections"> {
  return {
    maxMessageSize: settings.MESH_GPRC_MAXRECVMSGSIZE,
    maxConcurrentStreams: settings.MESH_GPRC_MAXSTREAMS,
    maxConnections: settings.MESH_MAX_CONNECTIONS,
  };
}
