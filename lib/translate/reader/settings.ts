/**
 * The settings of the process that translation reads.
 *
 * @module
 */
import type { Protocol } from "../../registry/types.ts";

/** The process-wide settings that translation reads, fixed at start (a setting is never read from the environment here). */
export interface TranslateSettings {
  /** DNS suffix of the mesh, `--domain`. */
  readonly domainSuffix: string;
  readonly enableHttp10: boolean;
  /** Gateways take requests over HTTP/3 where their service has a UDP port for it. */
  readonly http3: boolean;
  /** Percent of requests that are traced where nothing else says so. */
  readonly traceSampling: number;
  readonly spawnUpstreamSpanForGateway: boolean;
  /** Values of variables of the server's process, which headers of providers name; undefined: there is none. */
  readonly variable: (name: string) => string | undefined;
  /** Proxies say to each other which workload they are, where metrics are measured. */
  readonly exchangePeers: boolean;
  /** Databases whose protocol is understood on ports that declare it: Mongo, MySQL, Redis. */
  readonly databases: readonly Protocol[];
  /** Sidecars whose metadata says so take HBONE connections. */
  readonly listensHbone: boolean;
  /** Proxies make connections by HBONE to endpoints that take them. */
  readonly sendsHbone: boolean;
  /** They do so where mutual TLS is possible as well. */
  readonly prefersHbone: boolean;
  readonly enablePersistentSessionFilter: boolean;
  readonly persistentSessionLabel: string;
  readonly persistentSessionHeaderLabel: string;
  readonly enableRouteCollapse: boolean;
  readonly enableAbsoluteFqdnVhostDomain: boolean;
  readonly enable100ContinueHeaders: boolean;
  readonly enableEdsForHeadless: boolean;
  /** Names of headless services stand for endpoints of all clusters, not of the proxy's own alone. */
  readonly multiclusterHeadless: boolean;
  readonly enableLocalityWeightedLb: boolean;
  readonly sendUnhealthyEndpoints: boolean;
  readonly drainingLabel: string;
  readonly sidecarUseRemoteAddress: boolean;
  readonly enableTlsOnSidecarIngress: boolean;
  readonly allowSidecarServiceInboundListenerMerge: boolean;
  readonly preferDestinationRuleTlsForExternal: boolean;
  readonly dualStack: boolean;
  /** Names and virtual hosts of a service have its addresses of both families, beside what `dualStack` does. */
  readonly bothFamilies: boolean;
  /** Services without an address have one of their own, which proxies that answer names may hand out. */
  readonly assignsAddresses: boolean;
  readonly enableIpv4OutboundListenerForIpv6Clusters: boolean;
  readonly dnsCaresUdpMaxQueries: number;
  readonly dnsJitterMs: number;
  readonly enableTelemetryLabel: boolean;
  readonly endpointTelemetryLabel: boolean;
  readonly maxConnectionsPerSocketEventLoop: number;
  readonly filterGatewayClusterConfig: boolean;
  readonly scopeGatewayToNamespace: boolean;
  readonly enableHcmInternalNetworks: boolean;
  readonly labelCanonicalServicesForMeshExternal: boolean;
  /** Certificates of any trust domain are accepted, if an authority of the mesh issued them. */
  readonly skipValidateTrustDomain: boolean;
  /**
   * The program that fetches keys of token issuers by address: server, proxy, or (`hybrid`) proxy if the address is a
   * service.
   */
  readonly tokenKeysFetchedBy: "server" | "hybrid" | "proxy";
  /** TLS is limited to what that standard allows, over every other setting; empty: not limited. */
  readonly compliancePolicy: "" | "fips-140-2";
}
