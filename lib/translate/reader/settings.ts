/**
 * The settings of the process for translation.
 *
 * @module
 */
import type { Protocol } from "../../registry/types.ts";

/** The process-wide settings for translation, fixed at start. Nothing in translation reads the environment. */
export interface TranslateSettings {
  /** DNS suffix of the mesh, `--domain`. */
  readonly domainSuffix: string;
  readonly enableHttp10: boolean;
  /** Gateways take requests over HTTP/3 if the gateway's service has a UDP port. */
  readonly http3: boolean;
  /** Percent of traced requests, unless another setting decides. */
  readonly traceSampling: number;
  readonly spawnUpstreamSpanForGateway: boolean;
  /** Values of variables of the server's process, for headers of providers. Undefined: no such variable. */
  readonly variable: (name: string) => string | undefined;
  /** Proxies name their workload to each other, if metrics are measured. */
  readonly exchangePeers: boolean;
  /** Databases with an understood protocol, on ports with a declared protocol: Mongo, MySQL, Redis. */
  readonly databases: readonly Protocol[];
  /** Sidecars take HBONE connections if their metadata asks for HBONE. */
  readonly listensHbone: boolean;
  /** Proxies make connections by HBONE to endpoints with HBONE. */
  readonly sendsHbone: boolean;
  /** Proxies prefer HBONE over possible mutual TLS. */
  readonly prefersHbone: boolean;
  /** Waypoints are served. */
  readonly waypoints: boolean;
  /** Gateways use the waypoints of services that ask for it. */
  readonly ingressWaypoints: boolean;
  /** Without a usable waypoint, gateways reach workloads directly, whatever policies are bound. */
  readonly opensWithoutWaypoint: boolean;
  /** Waypoints enforce policies without targets in front of their services. */
  readonly layersPolicies: boolean;
  /** Services of scope GLOBAL are reached across networks, through gateways that forward HBONE. */
  readonly multiNetwork: boolean;
  readonly enablePersistentSessionFilter: boolean;
  readonly persistentSessionLabel: string;
  readonly persistentSessionHeaderLabel: string;
  readonly enableRouteCollapse: boolean;
  readonly enableAbsoluteFqdnVhostDomain: boolean;
  /** HTTP ports of the orchestrator's services have listeners at their addresses, where the Host header does not count. */
  readonly httpByAddress: boolean;
  readonly enable100ContinueHeaders: boolean;
  readonly enableEdsForHeadless: boolean;
  /** Names of headless services stand for endpoints of all clusters, not only of the proxy's own. */
  readonly multiclusterHeadless: boolean;
  readonly enableLocalityWeightedLb: boolean;
  readonly sendUnhealthyEndpoints: boolean;
  readonly drainingLabel: string;
  readonly sidecarUseRemoteAddress: boolean;
  readonly enableTlsOnSidecarIngress: boolean;
  readonly allowSidecarServiceInboundListenerMerge: boolean;
  readonly preferDestinationRuleTlsForExternal: boolean;
  readonly dualStack: boolean;
  /** Names and virtual hosts of a service have the addresses of both families, beside the effect of `dualStack`. */
  readonly bothFamilies: boolean;
  /** Services without an address have an own address, for proxies that answer names. */
  readonly assignsAddresses: boolean;
  readonly enableIpv4OutboundListenerForIpv6Clusters: boolean;
  readonly dnsCaresUdpMaxQueries: number;
  readonly dnsJitterMs: number;
  /** How long a sidecar that asks waits for an answer, ms (`MESH_ON_DEMAND_TIMEOUT`). */
  readonly askTimeoutMs: number;
  readonly enableTelemetryLabel: boolean;
  readonly endpointTelemetryLabel: boolean;
  readonly maxConnectionsPerSocketEventLoop: number;
  readonly filterGatewayClusterConfig: boolean;
  readonly scopeGatewayToNamespace: boolean;
  /** Policies without targets are also for workloads of Gateways of the Gateway API. */
  readonly gatewaySelectors: boolean;
  /** Gateways ask endpoint pickers about requests to InferencePools. */
  readonly inferencePools: boolean;
  readonly enableHcmInternalNetworks: boolean;
  readonly labelCanonicalServicesForMeshExternal: boolean;
  /** Certificates of any trust domain are accepted, if issued by an authority of the mesh. */
  readonly skipValidateTrustDomain: boolean;
  /**
   * The program that fetches keys of token issuers by address: server, proxy, or (`hybrid`) the proxy for addresses of
   * services.
   */
  readonly tokenKeysFetchedBy: "server" | "hybrid" | "proxy";
  /** TLS is limited by the standard, over every other setting. Empty: not limited. */
  readonly compliancePolicy: "" | "fips-140-2";
}
